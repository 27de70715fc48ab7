import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { array, asyncProperty, assert as forAll, integer, option, record, scheduler } from 'fast-check';
import { isLong } from '../../../../tests/harness/testLength.ts';
import { arrive } from './arrive.ts';
import { folderStorage } from './folderStorage.ts';
import { roomOf } from './room.ts';
import { StorageFull, type StoredFile } from './storage.ts';

const MIB = 1_048_576;

function scratch(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'induct-room-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** Returns a stream of `bytes` bytes. The stream lets other streams run after each piece, and calls `seen` for each piece. */
function stream(bytes: number, seen: () => void = () => {}): Readable {
  return Readable.from(
    (async function* () {
      for (let left = bytes; left > 0; left -= MIB / 2) {
        await setImmediate();
        seen();
        yield Buffer.alloc(Math.min(left, MIB / 2), 'a');
      }
    })(),
  );
}

/** Returns how many of the files were stored. The others must have failed with {@link StorageFull}. */
async function keptOf(files: readonly Promise<StoredFile>[]): Promise<number> {
  const ends = await Promise.allSettled(files);
  for (const end of ends)
    if (end.status === 'rejected') assert.ok(end.reason instanceof StorageFull, String(end.reason));
  return ends.filter(({ status }) => status === 'fulfilled').length;
}

test('whoever looks, writes and ends in whatever order, no byte goes into the reserve', async () => {
  const [capacity, reserve] = [40 * MIB, 10 * MIB];
  const file = record({
    expected: option(integer({ min: 0, max: 20 * MIB })),
    bytes: integer({ min: 1, max: 20 * MIB }),
  });
  await forAll(
    asyncProperty(scheduler(), array(file, { minLength: 2, maxLength: 6 }), async (turns, files) => {
      let used = 0;
      const turn = (name: string) =>
        turns
          .scheduleFunction(async () => {}, undefined)()
          .then(() => name);
      const room = roomOf('/anywhere', reserve, async () => {
        await turn('asked');
        const answer = capacity - used;
        await turn('answered');
        return answer;
      });
      const write = async ({ expected, bytes }: (typeof files)[number]) => {
        const claim = await room.claim(expected);
        try {
          for (let left = bytes; left > 0; left -= 3 * MIB) {
            const piece = Math.min(left, 3 * MIB);
            await claim.take(piece);
            await turn('written');
            used += piece;
            assert.ok(used <= capacity - reserve, `${used} bytes are written`);
            await turn('told');
            claim.written(piece);
          }
        } finally {
          claim.release();
        }
      };
      const ends = Promise.allSettled(files.map(write));
      await turns.waitFor(ends);
      for (const end of await ends)
        if (end.status === 'rejected' && !(end.reason instanceof StorageFull)) throw end.reason;
    }),
    { numRuns: isLong ? 1000 : 100 },
  );
});

for (const expected of ['known', 'unknown'])
  test(`twenty files at once, of ${expected} length, stay out of the reserve, and what they left is there for the next one`, async (t) => {
    const folder = scratch(t);
    // A file may be removed after it was listed and before its size is read.
    const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
    const used = () => readdirSync(folder).reduce((sum, name) => sum + sizeOf(name), 0);
    const capacity = 20 * MIB;
    let most = 0;
    const room = roomOf(folder, 0, async () => capacity - used());
    const send = (bytes: number) =>
      arrive(
        { folder, room },
        stream(bytes, () => (most = Math.max(most, used()))),
        expected === 'known' ? bytes : null,
        async () => {
          most = Math.max(most, used());
        },
      );
    const kept = await keptOf(Array.from({ length: 20 }, () => send(4 * MIB)));
    assert.ok(most > 0 && most <= capacity, `${most} bytes were there at once`);
    // A file of known size is accepted only if there is space for all of it, so all accepted files are stored.
    if (expected === 'known') assert.equal(kept, 4);
    assert.equal(used(), 0);
    assert.equal(await keptOf([send(19 * MIB)]), 1);
  });

test('what is promised to a file that has not arrived yet is not there for another one', async (t) => {
  const room = roomOf(scratch(t), MIB, async () => 10 * MIB);
  const claim = await room.claim(6 * MIB);
  assert.ok((await room.left()) < 3 * MIB);
  await assert.rejects(room.claim(5 * MIB), StorageFull);
  claim.release();
  await room.claim(5 * MIB);
});

test('a disk that others fill ends a file that was promised its room', async (t) => {
  let free = 100 * MIB;
  const room = roomOf(scratch(t), 10 * MIB, async () => free);
  const claim = await room.claim(50 * MIB);
  await claim.take(4 * MIB);
  free = 12 * MIB;
  await assert.rejects(claim.take(4 * MIB), StorageFull);
});

test('on a small disk that is real, twenty files at once leave its reserve alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'induct-small-disk-'));
  let isMounted = false;
  t.after(() => {
    if (isMounted) execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
  });
  const size = 64 * MIB;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
    isMounted = true;
  } catch {
    return t.skip('only root may mount a small disk; the tests above have one that is made up');
  }
  const free = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  const reserve = 24 * MIB;
  let least = size;
  const look = () => (least = Math.min(least, free()));
  const storage = folderStorage(join(folder, 'documents'), reserve);
  for (const expected of [6 * MIB, null]) {
    const files = Array.from({ length: 20 }, () =>
      storage.put(stream(6 * MIB, look), async () => void look(), expected),
    );
    await keptOf(files);
    assert.ok(least >= reserve, `${least} bytes were free`);
  }
  assert.ok(existsSync(join(folder, 'documents')));
});
