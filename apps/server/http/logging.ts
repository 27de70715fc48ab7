import { type DestinationStream, type Logger, pino } from 'pino';

/** Lines go out together, at the latest after so many ms: a write for each one costs more than most calls. */
const FLUSH_MS = 500;
const FLUSH_BYTES = 4096;

/**
 * JSON lines. Requests are logged by route template; bodies, queries, cookies and addresses never are. All lines are
 * written when the process ends, also by a fault; a kill -9 may lose those of its last half second.
 */
export function createLog(
  level: string,
  to: DestinationStream = pino.destination({
    dest: 1,
    sync: false,
    minLength: FLUSH_BYTES,
    periodicFlush: FLUSH_MS,
  }),
): Logger {
  return pino(
    {
      level,
      base: null,
      serializers: {
        req: (request) => ({ method: request.method, route: request.routeOptions?.url ?? 'none' }),
        err: (error) => ({ type: error.name, message: error.message, stack: error.stack ?? '' }),
      },
    },
    to,
  );
}
