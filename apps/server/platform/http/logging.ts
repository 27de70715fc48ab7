import { AsyncLocalStorage } from 'node:async_hooks';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Lines are written together, at the latest after so many ms: one write for each costs more than most calls. */
const FLUSH_MS = 500;
const FLUSH_BYTES = 4096;

/** The id of the request that code runs for, across asynchronous calls. */
const requestId = new AsyncLocalStorage<string>();

/** Adds the request's id to every line logged while it is handled, including those of use cases and providers. */
export function logRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', ({ id }, _, done) => requestId.run(id, done));
}

/**
 * JSON lines. Requests are logged by route template; bodies, queries, cookies and addresses never are. All lines are
 * written when the process ends, also by a fault; a kill -9 may lose those of its last half second.
 */
export function createLog(level: string, to: DestinationStream = standardOutput()): Logger {
  const log: Logger = pino(
    {
      level,
      base: null,
      // Fastify's own loggers, one for each request, have the id already.
      mixin: (_line, _level, logger) => {
        const reqId = logger === log ? requestId.getStore() : undefined;
        const span = trace.getActiveSpan()?.spanContext();
        return {
          ...(reqId !== undefined && { reqId }),
          ...(span && isSpanContextValid(span) && { trace_id: span.traceId, span_id: span.spanId }),
        };
      },
      serializers: {
        req: (request) => ({ method: request.method, route: request.routeOptions?.url ?? 'none' }),
        // By @fastify/multipart at the level trace, with all headers of the request: its cookie, too.
        busboyOptions: ({ limits }) => ({ limits }),
        err: (error) => ({ type: error.name, message: error.message, stack: error.stack ?? '' }),
      },
    },
    to,
  );
  return log;
}

/** Standard output, and a copy of every line elsewhere. */
export function withCopy(to: DestinationStream): DestinationStream {
  return pino.multistream([
    { level: 'trace', stream: standardOutput() },
    { level: 'trace', stream: to },
  ]);
}

function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: FLUSH_BYTES, periodicFlush: FLUSH_MS });
}
