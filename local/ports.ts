import { createServer } from 'node:net';

/** `port` when nobody listens there on loopback, else undefined; without a port any free one. */
export function freePort(port = 0, host = '127.0.0.1'): Promise<number | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => done(address && typeof address === 'object' ? address.port : undefined));
    });
  });
}
