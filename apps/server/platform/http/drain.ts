import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Interval at which idle connections are closed (ms). */
const LOOK_MS = 50;
/** After this silence (ms), all of it while the server closes, a connection is taken to bring no further call. */
const QUIET_MS = 1_000;
/** How long to wait for connections that still arrive (ms). */
const ACCEPT_MS = 2_000;

interface Connection {
  underWay: number;
  /** When it was opened, or its last answer was sent (ms). */
  since: number;
  /** Bytes received by then: more means that a call has begun. */
  readBytes: number;
}

/**
 * Lets a server stop without failing anybody: call {@link stopAccepting} first. `app.close()` then goes on answering on the
 * connections that are there, and closes each after its next answer (which Fastify has say so), or once it is quiet: whoever is
 * about to send a call on it would lose that call. It ends when all are closed, and after `patienceMs` without them.
 */
export function drainOnClose(app: FastifyInstance, patienceMs: number): void {
  const { server } = app;
  const connections = new Map<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, { underWay: 0, since: performance.now(), readBytes: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  // Before the handler, which may answer at once.
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
    // A proxy that has no newer connection left takes one that it did not use for long.
    const began = performance.now();
    await new Promise<void>((done) => {
      const end = () => {
        clearInterval(look);
        clearTimeout(cut);
        done();
      };
      const closeQuiet = async () => {
        const now = performance.now();
        // A timer comes before what is there to read: on a busy machine a call may have waited for as long.
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
 * Takes no more connections; those that are there stay as they are. Before anybody is told that theirs ends: they would open
 * another one here, perhaps in the very moment of the end.
 */
export async function stopAccepting(server: HttpServer): Promise<void> {
  if (!server.listening) return;
  let arrived = 0;
  const count = () => arrived++;
  server.on('connection', count);
  // A connection that the system took for us, and that we did not take from it yet, would be reset with its first call. Node takes
  // one in each turn of its loop, and none in the rest of the turn that it is in.
  const until = performance.now() + ACCEPT_MS;
  for (let quietTurns = 0; quietTurns < 2 && performance.now() < until; ) {
    const before = arrived;
    await setImmediate();
    quietTurns = arrived === before ? quietTurns + 1 : 0;
  }
  server.off('connection', count);
  // Not HTTP's own, which closes idle connections at once.
  Server.prototype.close.call(server);
}
