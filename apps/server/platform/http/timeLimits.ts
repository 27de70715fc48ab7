import type { IncomingMessage, Server } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import { UPLOAD_STOPPED } from '#documents/document.ts';
import { Refusal } from './refusal.ts';

const TOO_SLOW = 'Your request did not arrive in time. Please check your connection and try again.';

/** Time limits for each part of a connection (ms). Without them a client could exhaust the server by opening many connections. */
export interface TimeLimits {
  /** For a request's headers, from its first byte. For the first request of a connection: from the opening of the connection. */
  headersMs: number;
  /** For the whole body of a call. Uploads have {@link uploadWindowMs} instead: a phone may need an hour for a large film. */
  bodyMs: number;
  /** The window in which an upload must bring at least `uploadWindowBytes`; the next one follows at once. */
  uploadWindowMs: number;
  uploadWindowBytes: number;
  /** For the rest of a body that was answered early: browsers read the answer only after they have sent the whole body. */
  restMs: number;
  /** For a connection without traffic in either direction, as when nobody reads an answer. Longer than any call takes. */
  idleMs: number;
  /**
   * For a connection between requests. Longer than a proxy's limit, so that no proxy sends on a connection that was just closed.
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

/** Returns the limits that Node enforces. Node's limit for a whole request stays off, since it would apply to uploads. */
export function serverTimes({ headersMs, idleMs, keepAliveMs }: TimeLimits) {
  return {
    requestTimeout: 0,
    connectionTimeout: idleMs,
    keepAliveTimeout: keepAliveMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.ceil(headersMs / 3) },
  } satisfies FastifyHttpOptions<Server>;
}

/** Enforces the limits of bodies. Refuses a body that takes too long with 408 and a sentence, and closes its connection. */
export function limitBodies(
  app: FastifyInstance,
  { bodyMs, uploadWindowMs, uploadWindowBytes, restMs }: TimeLimits,
): void {
  app.addHook('preParsing', (request, reply, _, done) => {
    const { raw, headers } = request;
    done();
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    // Node emits no `end` for a request that was answered before its body had arrived.
    const untilAnswered = (timer: NodeJS.Timeout) => {
      const clear = () => clearTimeout(timer);
      raw.once('end', clear);
      reply.raw.once('close', clear);
    };
    const refuse = (sentence: string) => {
      if (!reply.sent) void reply.header('connection', 'close');
      breakOff(raw, new Refusal(408, sentence));
    };
    if (!isForm(headers['content-type'])) {
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
    // Scanning and forwarding an upload may take longer than a connection may be idle.
    raw.once('end', () => socket.setTimeout(0));
  });
  app.addHook('onResponse', ({ raw }, _, done) => {
    if (!raw.complete) {
      const rest = setTimeout(() => raw.socket.destroy(), restMs).unref();
      raw.once('end', () => clearTimeout(rest));
    }
    done();
  });
}

function isForm(contentType: string | undefined): boolean {
  return /^multipart\//i.test(contentType ?? '');
}

/** Fails the body's reader, which then sends the refusal. Closes the connection if nobody reads the body any more. */
function breakOff(request: IncomingMessage, refusal: Refusal): void {
  if (request.listenerCount('error') > 0) request.emit('error', refusal);
  else request.socket.destroy();
}
