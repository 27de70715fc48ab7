import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections and to whoever asks for any: what is free here stays so until it is used. */
const FIRST = 10_000;
const LAST = 32_000;
const MOST_TRIES = 100;

/** `port` when nobody listens there, else undefined; without a port any free one. */
export async function freePort(port = 0, host = '127.0.0.1'): Promise<number | undefined> {
  for (let tries = 0; tries < (port === 0 ? MOST_TRIES : 1); tries++) {
    const answer = await tryPort(port || randomInt(FIRST, LAST), host);
    if (typeof answer === 'number') return answer;
  }
  return undefined;
}

/** The port when one can listen there, else the system's word for why not, such as EADDRINUSE. */
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
