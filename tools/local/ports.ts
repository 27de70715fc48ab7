import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The ports to draw from. They are below the range from which systems take ports for outgoing connections and for port 0, so a port
 * that is free here stays free until it is used.
 */
const FIRST = 10_000;
const LAST = 32_000;
const MOST_TRIES = 100;

/** Resolves with `port` if it is free, otherwise with undefined. Without a port, resolves with any free one. */
export async function freePort(port = 0, host = '127.0.0.1'): Promise<number | undefined> {
  for (let tries = 0; tries < (port === 0 ? MOST_TRIES : 1); tries++) {
    const answer = await tryPort(port || randomInt(FIRST, LAST), host);
    if (typeof answer === 'number') return answer;
  }
  return undefined;
}

/** Resolves with the port if a server can listen there, otherwise with the system's error code, such as EADDRINUSE. */
export function tryPort(port: number, host: string): Promise<number | string> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => done(address && typeof address === 'object' ? address.port : port));
    });
  });
}
