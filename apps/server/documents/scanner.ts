import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** Thrown if the scanner gives no verdict: it cannot be reached, or the file exceeds its limit. */
export class NoVerdict extends Error {}

export interface Scanner {
  /** Returns the name of the malware found; null if there is none. Throws {@link NoVerdict}. */
  scan(bytes: AsyncIterable<Buffer>): Promise<string | null>;
}

const PATIENCE_MS = 60_000;

/**
 * Returns a scanner that uses clamd at `url` (tcp://host:port). Its command INSTREAM takes the file in chunks, each after its
 * length. A length of 0 ends the file.
 */
export function clamd(url: string): Scanner {
  const { hostname, port } = new URL(url);
  return {
    async scan(bytes) {
      const socket = connect(Number(port || 3310), hostname);
      socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('clamd did not answer in time')));
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      const ended = new Promise<void>((resolve, reject) => {
        socket.once('end', resolve);
        socket.once('error', reject);
        socket.once('close', () => reject(new Error('clamd hung up')));
      });
      try {
        await Promise.all([pipeline(framed(bytes), socket, { end: false }), ended]);
      } catch (cause) {
        throw new NoVerdict('the scanner gave no verdict', { cause });
      } finally {
        socket.destroy();
      }
      const text = answer.replaceAll('\0', '').trim();
      if (text === 'stream: OK') return null;
      const found = /^stream: (.+) FOUND$/.exec(text)?.[1];
      if (found === undefined) throw new NoVerdict(`the scanner said: ${text.slice(0, 200)}`);
      return found;
    },
  };
}

async function* framed(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer | string> {
  yield 'zINSTREAM\0';
  for await (const chunk of bytes) {
    if (chunk.length === 0) continue;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(chunk.length);
    yield length;
    yield chunk;
  }
  yield Buffer.alloc(4);
}
