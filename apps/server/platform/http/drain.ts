import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** How often idle connections are looked for and closed (ms). */
const LOOK_MS = 50;
/** A connection that has been silent for this long (ms) since the server began to close is expected to bring no further call. */
const QUIET_MS = 1_000;
/** How long to wait for connections that are still arriving (ms). */
const ACCEPT_MS = 2_000;

interface Connection {
  underWay: number;
  /** When the connection was opened or last answered (`performance.now`, ms). */
  since: number;
  /** Bytes received at that time. If more have arrived since, a call has begun. */
  readBytes: number;
}

/**
 * Lets a server stop without losing calls: call {@link stopAccepting} first. `app.close()` then still answers calls on open
 * connections. It closes a connection after its next answer (Fastify's `connection: close` header tells the client) or after a
 * silence: closing at once could lose a call that is arriving. It ends when all connections are closed, after `patienceMs` at the
 * latest.
 */
export function drainOnClose(app: FastifyInstance, patienceMs: number): void {
  const { server } = app;
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, { underWay: 0, since: performance.now(), readBytes: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  // Runs before the request handler, which may answer at once.
  server.prependListener('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connection.underWay++;
    response.once('close', () => {
      connection.underWay--;
      connection.since = performance.now();
      connection.readBytes = socket.bytesRead;
    });
  });

  app.addHook('preClose', async () => {
    await stopAccepting(server);
    // Silence is counted from now at the earliest: a proxy that gets no new connections may reuse one that was idle for long.
    const began = performance.now();
    await new Promise<void>((done) => {
      const end = () => {
        clearInterval(look);
        clearTimeout(cut);
        done();
      };
      const closeQuiet = async () => {
        const now = performance.now();
        // Timers run before sockets are read. On a busy machine a call may already wait in the socket, so sockets are read first.
        await setImmediate();
        for (const [socket, { underWay, since, readBytes }] of connections)
          if (underWay === 0 && socket.bytesRead === readBytes && now - Math.max(since, began) >= QUIET_MS)
            socket.destroy();
        if (connections.size === 0) end();
      };
      const look = setInterval(closeQuiet, LOOK_MS);
      const cut = setTimeout(() => {
        server.closeAllConnections();
        end();
      }, patienceMs);
      void closeQuiet();
    });
  });
}

/**
 * Accepts no more connections and keeps the open ones. Must come before any client is told that its connection ends: the client
 * would open another one here, which would break when the server stops.
 */
export async function stopAccepting(server: HttpServer): Promise<void> {
  if (!server.listening) return;
  let arrived = 0;
  const count = () => arrived++;
  server.on('connection', count);
  // The system may have accepted a connection that Node has not taken over yet. Closing the port now would reset that connection,
  // and the first request on it would be lost. Node takes over one connection in each turn of its event loop, so two turns without
  // a new one mean that none waits.
  const until = performance.now() + ACCEPT_MS;
  for (let quietTurns = 0; quietTurns < 2 && performance.now() < until; ) {
    const before = arrived;
    await setImmediate();
    quietTurns = arrived === before ? quietTurns + 1 : 0;
  }
  server.off('connection', count);
  // Not `close` of the HTTP server, which would close idle connections at once.
  Server.prototype.close.call(server);
}
