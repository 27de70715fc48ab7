import { AsyncLocalStorage } from 'node:async_hooks';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Log lines are buffered for at most this time (ms): one write for each line would cost more than most calls. */
const FLUSH_MS = 500;
const FLUSH_BYTES = 4096;

/** The id of the request that the current asynchronous context handles. */
const requestId = new AsyncLocalStorage<string>();

/** Adds the request's id to every line that is logged while the request is handled, including lines of use cases and providers. */
export function logRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', ({ id }, _, done) => requestId.run(id, done));
}

/**
 * Creates a logger that writes JSON lines. Requests are logged by route template; bodies, queries, cookies and addresses are never
 * logged. Buffered lines are written when the process ends, even by an uncaught error. A SIGKILL may lose the last half second.
 */
export function createLog(level: string, to: DestinationStream = standardOutput()): Logger {
  const log: Logger = pino(
    {
      level,
      base: null,
      // Fastify's logger of a request adds the id itself; this function adds it to lines of the root logger.
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
        // At the level `trace`, @fastify/multipart logs these options with all request headers, including the cookie. Only the
        // limits are kept.
        busboyOptions: ({ limits }) => ({ limits }),
        err: (error) => ({ type: error.name, message: error.message, stack: error.stack ?? '' }),
      },
    },
    to,
  );
  return log;
}

/** Returns a stream that writes every line to standard output and to `to`. */
export function withCopy(to: DestinationStream): DestinationStream {
  return pino.multistream([
    { level: 'trace', stream: standardOutput() },
    { level: 'trace', stream: to },
  ]);
}

function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: FLUSH_BYTES, periodicFlush: FLUSH_MS });
}
