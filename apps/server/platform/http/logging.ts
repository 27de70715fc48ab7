import { AsyncLocalStorage } from 'node:async_hooks';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Log lines are written together, at the latest after this time (ms), since one write for each line would cost more than most
 * calls.
 */
const FLUSH_MS = 500;
const FLUSH_BYTES = 4096;

/** The id of the request that is being handled, kept across asynchronous calls. */
const requestId = new AsyncLocalStorage<string>();

/** Adds the request's id to every line logged while it is handled, including those of use cases and providers. */
export function logRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', ({ id }, _, done) => requestId.run(id, done));
}

/**
 * Creates a log of JSON lines. Requests are logged by route template; bodies, queries, cookies and addresses are never logged. All
 * lines are written when the process ends, also after a fault; after kill -9 the last half second may be lost.
 */
export function createLog(level: string, to: DestinationStream = standardOutput()): Logger {
  const log: Logger = pino(
    {
      level,
      base: null,
      // Fastify's loggers, one for each request, add the id themselves.
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
        // @fastify/multipart logs this at the level trace with all headers of the request, including its cookie.
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
