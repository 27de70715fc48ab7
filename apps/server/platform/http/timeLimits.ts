import type { IncomingMessage, Server } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import { UPLOAD_STOPPED } from '#documents/document.ts';
import { Refusal } from './refusal.ts';

const TOO_SLOW = 'Your request did not arrive in time. Please check your connection and try again.';

/** How long a connection may take for each of its parts (ms). Without them whoever opens many holds all that we have. */
export interface TimeLimits {
  /** Up to the end of a request's headers, from its first byte; of a connection's first one, from when it was opened. */
  headersMs: number;
  /** For the whole body of a call. An upload has {@link uploadWindowMs} instead: a phone may need an hour for a film. */
  bodyMs: number;
  /** In each window of this length an upload must bring at least so many bytes. */
  uploadWindowMs: number;
  uploadWindowBytes: number;
  /** For the rest of a body whose answer has been sent: a browser reads the answer when it has sent everything. */
  restMs: number;
  /** A connection on which nothing moves in either direction, as when an answer is not read. Longer than any call works. */
  idleMs: number;
  /** A connection that waits for its next request. Longer than a proxy keeps it, or the proxy sends into one that just closed. */
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

/** Those that Node keeps itself. Its limit for a whole request would be one for uploads too. */
export function serverTimes({ headersMs, idleMs, keepAliveMs }: TimeLimits) {
  return {
    requestTimeout: 0,
    connectionTimeout: idleMs,
    keepAliveTimeout: keepAliveMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: Math.ceil(headersMs / 3) },
  } satisfies FastifyHttpOptions<Server>;
}

/** Those of bodies. One that takes too long is refused with 408 and a sentence, and its connection closed. */
export function limitBodies(
  app: FastifyInstance,
  { bodyMs, uploadWindowMs, uploadWindowBytes, restMs }: TimeLimits,
): void {
  app.addHook('preParsing', (request, reply, _, done) => {
    const { raw, headers } = request;
    done();
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
    // Node does not say that a request ends whose answer has been sent before.
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
    // Scanning it, and sending it on, may take longer than a connection may rest.
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

/** Whoever reads the body is told, and answers; when nobody does any more, nobody is to be told. */
function breakOff(request: IncomingMessage, refusal: Refusal): void {
  if (request.listenerCount('error') > 0) request.emit('error', refusal);
  else request.socket.destroy();
}
