import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** The interval (ms) in which the closing server looks for idle connections and closes them. */
const LOOK_MS = 50;
/**
 * A closing server closes each connection that has had no traffic for this time (ms). The time starts when the shutdown begins,
 * or later.
 */
const QUIET_MS = 1_000;
/** The most time (ms) to wait for Node to take over connections that the operating system has accepted. */
const ACCEPT_MS = 2_000;

interface Connection {
  underWay: number;
  /** When the connection was opened, or when its last answer ended (`performance.now`, ms). */
  since: number;
  /** Bytes received until `since`. If the socket has read more, a further call has begun. */
  readBytes: number;
}

/**
 * Adds a hook that makes `app.close()` finish without losing calls. The hook first calls {@link stopAccepting}; calls on open
 * connections are still answered. An open connection is closed after its next answer, which tells the client so in the header
 * `connection: close`, or after QUIET_MS without traffic: closing the connection at once could lose a call that is on its way.
 * The hook ends when all connections are closed, or closes the remaining ones after `patienceMs`.
 */
export function drainOnClose(app: FastifyInstance, patienceMs: number): void {
  const { server } = app;
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, { underWay: 0, since: performance.now(), readBytes: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  // This listener must run before the request handler, which may answer synchronously. It is therefore added before the handler.
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
    // Even a connection that was idle for long stays open for QUIET_MS from now: a proxy that can open no new connection may reuse
    // it.
    const began = performance.now();
    await new Promise<void>((done) => {
      const end = () => {
        clearInterval(look);
        clearTimeout(cut);
        done();
      };
      const closeQuiet = async () => {
        const now = performance.now();
        // Lets Node poll its sockets first: timers run before that phase, so on a busy machine a call may have arrived that Node
        // has not read yet.
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
 * Stops accepting connections and keeps the open ones. Must run before any answer has `connection: close`: after such an answer a
 * client would open a new connection to this server, which would be lost when the server stops.
 */
export async function stopAccepting(server: HttpServer): Promise<void> {
  if (!server.listening) return;
  let arrived = 0;
  const count = () => arrived++;
  server.on('connection', count);
  // The operating system may have accepted a connection that Node has not taken over. Closing the port would reset that connection,
  // and lose its first request. Node takes over one connection per turn of its event loop, so after two turns without a new
  // connection none is left.
  const until = performance.now() + ACCEPT_MS;
  for (let quietTurns = 0; quietTurns < 2 && performance.now() < until; ) {
    const before = arrived;
    await setImmediate();
    quietTurns = arrived === before ? quietTurns + 1 : 0;
  }
  server.off('connection', count);
  // `close` of the HTTP server would also close idle connections, so this calls the method of net.Server.
  Server.prototype.close.call(server);
}
