import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { Pool } from 'undici';
import { calls } from '../../packages/contract/calls.ts';

/**
 * A process that abuses a server on this machine as strangers would: it holds connections open, guesses invite codes, and sends
 * bodies and headers that are too large. The parent process sends it an {@link AbuseJob}. It answers `under way` once the
 * connections are open, and with the {@link AbuseFigures} at the end. The process has the lowest priority, because real strangers
 * use their own machines.
 */

export interface AbuseJob {
  url: string;
  connections: number;
  guesses: number;
  addresses: number;
  /** How many bodies of 2 MB to send. The same number of requests with headers of 100 kB is sent in addition. */
  floods: number;
  /** After this time (ms) no more requests are sent. */
  limitMs: number;
}

export interface AbuseFigures {
  /** How many connections were open at the same time. */
  connections: number;
  guessesPerSecond: number;
  /** How many guesses got each status; 0 means no answer. */
  guesses: Record<number, number>;
  floods: Record<number, number>;
}

const AT_ONCE = 64;
const OPENED_AT_ONCE = 200;
/** The data sent over the connections that are held open, in turn: nothing, headers that never end, or a body that never ends. */
const beginnings = [
  '',
  'GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
  'POST /api/browser-reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n[',
];

setPriority(19);
process.on('message', (job: AbuseJob) => {
  abuse(job).then(
    (figures) => process.send!(figures),
    (error: Error) => process.send!(error.message),
  );
});
for (const event of ['SIGTERM', 'disconnect'] as const) process.once(event, () => process.exit(0));
process.send!('ready');

async function abuse(job: AbuseJob): Promise<AbuseFigures> {
  const { url, guesses: count, addresses, floods } = job;
  const { port } = new URL(url);
  const held = await hold(Number(port), job.connections);
  const reached = held.filter(({ readyState }) => readyState === 'open').length;
  process.send!('under way');
  const began = performance.now();
  const isOver = () => performance.now() - began > job.limitMs;
  const pool = new Pool(url, { connections: AT_ONCE });
  const guesses = await tally(count, AT_ONCE, isOver, (index) =>
    statusOf(pool, {
      'x-forwarded-for': addressOf(index % addresses),
      body: JSON.stringify({ invitationCode: randomBytes(4).toString('hex').toUpperCase(), isTOLA: true }),
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const large = JSON.stringify({ invitationCode: 'A'.repeat(2_000_000) });
  const flooded = await tally(floods * 2, 8, isOver, (index) =>
    statusOf(pool, index % 2 === 0 ? { body: large } : { 'x-flood': 'a'.repeat(100_000), body: '{}' }),
  );
  for (const socket of held) socket.destroy();
  await pool.destroy();
  const made = Object.values(guesses).reduce((sum, each) => sum + each, 0);
  return { connections: reached, guessesPerSecond: made / seconds, guesses, floods: flooded };
}

/** Opens `count` connections, or as many as the system allows. */
async function hold(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  let isFull = false;
  while (sockets.length < count && !isFull) {
    const some = Math.min(OPENED_AT_ONCE, count - sockets.length);
    const opened = await Promise.all(
      Array.from({ length: some }, (_, index) => openSocket(port, beginnings[index % beginnings.length]!)),
    );
    sockets.push(...opened.filter((socket) => socket !== null));
    isFull = opened.includes(null);
  }
  return sockets;
}

function openSocket(port: number, beginning: string): Promise<Socket | null> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(beginning);
      done(socket);
    });
    socket.on('error', () => done(null));
    socket.resume();
  });
}

function addressOf(number: number): string {
  return `172.${16 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}

async function statusOf(
  pool: Pool,
  { body, ...headers }: { body: string } & Record<string, string>,
): Promise<number> {
  try {
    const answer = await pool.request({
      ...calls.checkEligibility,
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    return 0;
  }
}

/**
 * Makes calls, at most `atOnce` at the same time. Stops after `count` calls, or earlier when `isOver` returns true. Returns how
 * many calls got each status.
 */
async function tally(
  count: number,
  atOnce: number,
  isOver: () => boolean,
  make: (index: number) => Promise<number>,
): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  let next = 0;
  const worker = async () => {
    while (next < count && !isOver()) {
      const status = await make(next++);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return statuses;
}
