import { AsyncLocalStorage } from 'node:async_hooks';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Log lines are buffered for at most this time (ms): one write for each line would cost more than most calls. */
const FLUSH_MS = 500;
const FLUSH_BYTES = 4096;

/** The id of the request that the current asynchronous context handles. */
const requestId = new AsyncLocalStorage<string>();

/**
 * Returns a request's route template; `none` if no route matches. Never the path itself: it contains the session's uuid, which is a
 * credential.
 */
export function routeOf({ routeOptions: { url } }: FastifyRequest): string {
  return url === undefined || url === '/*' || url === '*' ? 'none' : url;
}

/** Runs `work` so that every line that is logged meanwhile has the request's id, including lines of use cases and providers. */
export function withRequestId(id: string, work: () => void): void {
  requestId.run(id, work);
}

/** Logs a request that was answered, with the fields of `more`. */
export function logAnswer({ request, raw, elapsedTime, log }: FastifyReply, more: object): void {
  const { id: reqId, method } = request;
  const answer = { method, route: routeOf(request), status: raw.statusCode, ms: Math.round(elapsedTime) };
  log.info({ ...more, reqId, ...answer }, 'answered');
}

/**
 * Creates a logger that writes JSON lines. Requests are logged by route template; bodies, queries, cookies and addresses are never
 * logged. Buffered lines are written when the process ends, even by an uncaught error. A SIGKILL may lose the last half second.
 */
export function createLog(level: string, to: DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level,
      base: null,
      mixin: () => {
        const reqId = requestId.getStore();
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
