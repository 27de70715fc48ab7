import type { IncomingMessage, Server } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import { UPLOAD_STOPPED } from '#documents/document.ts';
import { Refusal } from './refusal.ts';

const TOO_SLOW = 'Your request did not arrive in time. Please check your connection and try again.';

/** Time limits for each part of a connection (ms). Without them a client that opens many exhausts the server. */
export interface TimeLimits {
  /** For a request's headers, from its first byte; for a connection's first request, from when it was opened. */
  headersMs: number;
  /** For the whole body of a call. An upload has {@link uploadWindowMs} instead: a phone may need an hour for a film. */
  bodyMs: number;
  /** In each window of this length an upload must bring at least so many bytes. */
  uploadWindowMs: number;
  uploadWindowBytes: number;
  /** For the rest of a body after its answer was sent: browsers read the answer only after sending everything. */
  restMs: number;
  /** For a connection without traffic in either direction, as when an answer is not read. Longer than any call takes. */
  idleMs: number;
  /** For a connection between requests. Longer than proxies keep it, so that none sends on a connection that was just closed. */
  keepAliveMs: number;
}

export const timeLimits: TimeLimits = {
  headersMs: 15_000,
  bodyMs: 30_000,
  uploadWindowMs: 60_000,
  uploadWindowBytes: 30_000,
  restMs: 30_000,
  idleMs: 120_000,
  // nginx keeps those to its upstreams for 60 s, as load balancers do.
  keepAliveMs: 72_000,
};

/** Those that Node enforces. Its limit for a whole request is not used, since it would apply to uploads. */
export function serverTimes({ headersMs, idleMs, keepAliveMs }: TimeLimits) {
  return {
    requestTimeout: 0,
    connectionTimeout: idleMs,
    keepAliveTimeout: keepAliveMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.ceil(headersMs / 3) },
  } satisfies FastifyHttpOptions<Server>;
}

/** The limits of bodies. A body that takes too long is refused with 408 and a sentence, and its connection closed. */
export function limitBodies(
  app: FastifyInstance,
  { bodyMs, uploadWindowMs, uploadWindowBytes, restMs }: TimeLimits,
): void {
  app.addHook('preParsing', (request, reply, _, done) => {
    const { raw, headers } = request;
    done();
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    // Node emits no end of a request whose answer was sent before.
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
    // Scanning and forwarding it may take longer than a connection may be idle.
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

/** Fails the body's reader, which then answers; does nothing when nobody reads any more. */
function breakOff(request: IncomingMessage, refusal: Refusal): void {
  if (request.listenerCount('error') > 0) request.emit('error', refusal);
  else request.socket.destroy();
}
