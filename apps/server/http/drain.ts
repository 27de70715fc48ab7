import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How often connections whose answer has gone out are closed (ms). */
const LOOK_MS = 50;

/**
 * Lets `app.close()` end as soon as the calls under way are answered, and after `patienceMs` without them. By itself Node
 * waits for the browser to close a connection that was answered meanwhile (72 s), and for one that never asked anything:
 * browsers open such ahead of need.
 */
export function drainOnClose(app: FastifyInstance, patienceMs: number): void {
  const { server } = app;
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }) => silent.delete(socket));
  app.addHook('preClose', (done) => {
    if (server.listening) {
      const look = setInterval(() => {
        for (const socket of silent) socket.destroy();
        server.closeIdleConnections();
      }, LOOK_MS);
      const cut = setTimeout(() => server.closeAllConnections(), patienceMs);
      server.once('close', () => {
        clearInterval(look);
        clearTimeout(cut);
      });
    }
    done();
  });
}
