import type { IncomingMessage, Server } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import { UPLOAD_STOPPED } from '#documents/document.ts';
import { Refusal } from './refusal.ts';

const TOO_SLOW = 'Your request did not arrive in time. Please check your connection and try again.';

/** The timeouts for each phase of a connection (ms). Without them a client could exhaust the server with open connections. */
export interface TimeLimits {
  /**
   * The timeout from the first byte of a request (for the first request: from the opening of the connection) to the end of its
   * headers.
   */
  headersMs: number;
  /**
   * The timeout for the whole body of a call. Uploads have {@link uploadWindowMs} instead, because a large file may take an hour
   * from a phone.
   */
  bodyMs: number;
  /** An upload must bring at least `uploadWindowBytes` in each window of this length. */
  uploadWindowMs: number;
  uploadWindowBytes: number;
  /**
   * The timeout for the rest of a body after an early answer: browsers read an answer only when they have sent the whole body.
   */
  restMs: number;
  /** The timeout of a connection without traffic in either direction. No call takes this long. */
  idleMs: number;
  /**
   * The timeout of a connection between two requests. It is longer than the same timeout of proxies, so that no proxy sends a
   * request on a connection that the server is just closing.
   */
  keepAliveMs: number;
}

export const timeLimits: TimeLimits = {
  headersMs: 15_000,
  bodyMs: 30_000,
  uploadWindowMs: 60_000,
  uploadWindowBytes: 30_000,
  restMs: 30_000,
  idleMs: 120_000,
  // nginx and load balancers keep connections to their upstreams for 60 s.
  keepAliveMs: 72_000,
};

/** Returns the timeouts that Node enforces. Node's timeout for a whole request stays off, since it would also apply to uploads. */
export function serverTimes({ headersMs, idleMs, keepAliveMs }: TimeLimits) {
  return {
    requestTimeout: 0,
    connectionTimeout: idleMs,
    keepAliveTimeout: keepAliveMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.ceil(headersMs / 3) },
  } satisfies FastifyHttpOptions<Server>;
}

/** Enforces the time limits of request bodies. A body that takes too long is refused with 408, and its connection is closed. */
export function limitBodies(
  app: FastifyInstance,
  { bodyMs, uploadWindowMs, uploadWindowBytes }: TimeLimits,
): void {
  app.addHook('preParsing', (request, reply, _, done) => {
    const { raw, headers } = request;
    done();
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    // If a request is answered before its body has arrived, the request emits no `end`, but the answer emits `close`.
    const untilAnswered = (timer: NodeJS.Timeout) => {
      const clear = () => clearTimeout(timer);
      raw.once('end', clear);
      reply.raw.once('close', clear);
    };
    const refuse = (sentence: string) => {
      if (!reply.sent) void reply.header('connection', 'close');
      breakOff(raw, new Refusal(408, sentence));
    };
    if (!isUpload(headers['content-type'])) {
      untilAnswered(setTimeout(() => refuse(TOO_SLOW), bodyMs));
      return;
    }
    const { socket } = raw;
    let before = socket.bytesRead;
    const window = setInterval(() => {
      if (socket.bytesRead - before < uploadWindowBytes) refuse(UPLOAD_STOPPED);
      before = socket.bytesRead;
    }, uploadWindowMs);
    untilAnswered(window);
    // When the upload has arrived, the idle timeout of its connection ends, because scanning and storing the file may take longer.
    raw.once('end', () => socket.setTimeout(0));
  });
}

/** Limits the time for the rest of the body of a request that is answered. */
export function limitRest(request: IncomingMessage, { restMs }: TimeLimits): void {
  // A call that a test has injected has no `complete` and no connection.
  if (request.complete !== false) return;
  const rest = setTimeout(() => request.socket.destroy(), restMs).unref();
  request.once('end', () => clearTimeout(rest));
}

/** Whether a body is a file: in a form, as from a joiner's page, or as the whole body, as from the desk. */
function isUpload(contentType: string | undefined): boolean {
  return /^(multipart\/|(text\/csv|application\/octet-stream)\b)/i.test(contentType ?? '');
}

/**
 * Makes reading the body fail, so that the error handler answers with the refusal. If nothing reads the body any more, closes the
 * connection.
 */
function breakOff(request: IncomingMessage, refusal: Refusal): void {
  if (request.listenerCount('error') > 0) request.emit('error', refusal);
  else request.socket.destroy();
}
