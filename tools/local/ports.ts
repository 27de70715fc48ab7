import { createServer } from 'node:net';

/** `port` when nobody listens there, else undefined; without a port any free one. */
export async function freePort(port = 0, host = '127.0.0.1'): Promise<number | undefined> {
  const answer = await tryPort(port, host);
  return typeof answer === 'number' ? answer : undefined;
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
