import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

/**
 * The ports to draw from. They are below the range from which systems take ports for outgoing connections and for port 0, so a port
 * that is free here stays free until it is used.
 */
const FIRST = 10_000;
const LAST = 32_000;
const MOST_TRIES = 100;

/** {@link claimPort} claims a TCP port by binding the UDP port whose number is higher by this. */
const CLAIM = 32_768;

/** The ports that this process has claimed. Each socket is held until the process ends. */
const claimed = new Map<number, Socket>();

/**
 * Resolves with `port` if it is free, otherwise with undefined. Without a port, resolves with any free one. The port is claimed
 * for as long as this process runs: meanwhile `freePort` gives it to no process, even before a server listens there.
 */
export async function freePort(port = 0, host = '127.0.0.1'): Promise<number | undefined> {
  for (let tries = 0; tries < (port === 0 ? MOST_TRIES : 1); tries++) {
    const drawn = port || randomInt(FIRST, LAST);
    if (!(await claimPort(drawn))) continue;
    const answer = await tryPort(drawn, host);
    if (typeof answer === 'number') return answer;
    claimed.get(drawn)?.close();
    claimed.delete(drawn);
  }
  return undefined;
}

/**
 * Claims a port, and resolves with whether that succeeded: false if the port is already claimed. A port above the range of
 * `freePort` needs no claim. The claim is a UDP port of this machine. The system gives it to one process only, and frees it when
 * that process ends, however it ends.
 */
export async function claimPort(port: number): Promise<boolean> {
  if (port >= LAST) return true;
  const socket = createSocket('udp4');
  const isClaimed = await new Promise<boolean>((done) => {
    // If the system refuses UDP for another reason than that the port is taken, the port is given out without a claim.
    socket.once('error', (error: NodeJS.ErrnoException) => done(error.code === 'EADDRINUSE'));
    socket.bind({ port: port + CLAIM, address: '127.0.0.1', exclusive: true }, () => done(false));
  });
  if (isClaimed) return false;
  claimed.set(port, socket.unref());
  return true;
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
