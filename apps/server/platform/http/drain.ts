import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** The interval (ms) in which the closing server looks for idle connections. */
const LOOK_MS = 50;
/**
 * A closing server keeps idle connections for this time (ms): a call may be on its way, or a proxy may use the connection for its
 * next call.
 */
const QUIET_MS = 1_000;
/** The maximum time (ms) to wait for Node to take over connections that the operating system has accepted. */
const ACCEPT_MS = 2_000;
/** A turn of the event loop that takes less time (ms) contains no other work after Node has looked for new connections. */
const QUIET_TURN_MS = 1;

/**
 * Adds a hook that makes `app.close()` finish without losing calls. Fastify alone would lose those that are on their way, since it
 * closes idle connections at once. The hook first calls {@link stopAccepting}; calls on open connections are still answered, with
 * the header `connection: close`. Idle connections are closed after QUIET_MS, all others after `patienceMs`.
 */
export function drainOnClose(app: FastifyInstance, patienceMs: number): void {
  const { server } = app;
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  let isClosing = false;
  // Fastify adds the header only to answers of calls that began after `close`.
  app.addHook('onSend', (_, reply, payload, done) => {
    if (isClosing) void reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => {
    await stopAccepting(server);
    isClosing = true;
    const began = performance.now();
    const passed = () => performance.now() - began;
    while (connections.size > 0 && passed() < patienceMs) {
      await pause(LOOK_MS);
      // Lets Node poll its sockets first: timers run before that phase, so on a busy machine a call may have arrived that Node has
      // not read yet.
      await setImmediate();
      if (passed() < QUIET_MS) continue;
      server.closeIdleConnections();
      // For Node, a connection that never brought a byte is not idle.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }
    server.closeAllConnections();
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
  // connection none is left. In a turn that spends long on calls, another connection may come after Node has looked for them.
  const until = performance.now() + ACCEPT_MS;
  for (let quietTurns = 0; quietTurns < 2 && performance.now() < until; ) {
    const [before, began] = [arrived, performance.now()];
    await setImmediate();
    const isQuiet = arrived === before && performance.now() - began < QUIET_TURN_MS;
    quietTurns = isQuiet ? quietTurns + 1 : 0;
  }
  server.off('connection', count);
  // `close` of the HTTP server would also close idle connections, so this calls the method of net.Server.
  Server.prototype.close.call(server);
}
