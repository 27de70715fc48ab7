import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describeMachine } from '../accounting/machine.ts';
import { machineBusySeconds, peakBytes, usageOf } from '../accounting/processTree.ts';
import { eachFirstInTurn, quietOnes, type Rounds, spreadBy, tellRounds } from '../accounting/rounds.ts';
import { contactIdOf } from '../flows/ours.ts';
import { megabytes, spread, table } from '../report/table.ts';
import { atLeast, type Verdict, verdictTable } from '../report/verdicts.ts';
import type { Scope } from '../scope.ts';
import { makeOurDatabase, type OurDatabase, startOurs } from '../servers.ts';
import { findNginx, startNginx } from '../uploads/nginx.ts';
import { type Sender, startSender } from '../uploads/send.ts';
import { type Bench, innerWorld, startWorld, type World } from '../world.ts';

const MIB = 1_048_576;
const multipartFloor = resolve(import.meta.dirname, '../floor/multipart.ts');
const withoutSync = resolve(import.meta.dirname, '../uploads/withoutSync.ts');

/** Something that takes uploads. */
interface Taker {
  url: string;
  fields: Record<string, string>;
  pid: number;
  /** Where the bytes go. Emptied after each upload. */
  folder: string;
}

interface Taken {
  megabytesPerSecond: number;
  otherCores: number;
}

/** Beside something that writes what it takes as we do, synced or not. */
type Beside = Rounds<{ ours: Taken; other: Taken }>;

/** How long a server is left alone until its first document (ms): nobody sends one while it starts. */
const STARTED_MS = 1000;

/** One upload at a time, beside a bare multipart stream and nginx. */
export async function benchmarkUploads(bench: Bench): Promise<string> {
  const { options, say } = bench;
  const bytes = (options.quick ? 64 : 1024) * MIB;
  const sizes = (options.quick ? [20, 200] : [100, 2048]).map((size) => size * MIB) as [number, number];
  const world = await startWorld(bench);
  const database = await makeOurDatabase(world, 'ours');
  const sender = await startSender(world.scope);

  const onDisk = await beside(
    world,
    sender,
    { ours: await ours(world, database), other: await floor(world.scope, join(world.folder, 'floor')) },
    bytes,
    'synced to disk',
  );
  const nginx = await besideNginx(world, database, sender, bytes);

  const peaks: number[] = [];
  for (const size of sizes) {
    const inner = innerWorld(world);
    const taker = await ours(inner, database);
    await setTimeout(STARTED_MS);
    for (let round = 0; round < 3; round++) await send(sender, taker, size);
    peaks.push(peakBytes(taker.pid));
    await inner.end();
  }
  say(`peak memory ${peaks.map(megabytes).join(' and ')}`);
  return report({
    machine: await describeMachine(database.client),
    bytes,
    sizes,
    peaks: peaks as [number, number],
    onDisk,
    nginx,
  });
}

/** Resumes of somebody whom HubSpot knows. */
async function ours(
  world: World,
  database: OurDatabase,
  settings: Record<string, string> = {},
): Promise<Taker> {
  const { urls, pids } = await startOurs(world, database, { known: 1, settings });
  return {
    url: `${urls[0]}/api/public/upload-resume`,
    fields: { contactId: contactIdOf(1) },
    pid: pids.node[0]!,
    folder: join(world.folder, database.name, 'documents'),
  };
}

async function floor(scope: Scope, folder: string): Promise<Taker> {
  const { process: server, ready } = await scope.start<{ listening: string }>(multipartFloor, {
    args: [folder],
  });
  return { url: `${ready.listening}/upload`, fields: {}, pid: server.pid!, folder };
}

/** Undefined when there is no nginx. It does not sync, so here neither do we. */
async function besideNginx(
  world: World,
  database: OurDatabase,
  sender: Sender,
  bytes: number,
): Promise<Beside | undefined> {
  const program = findNginx();
  if (program === undefined) return undefined;
  const folder = join(world.folder, 'nginx');
  const inner = innerWorld(world);
  const { url, pid } = await startNginx(inner.scope, program, folder);
  const nginx: Taker = { url, fields: {}, pid, folder: join(folder, 'bodies') };
  const mine = await ours(inner, database, {
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${withoutSync}`,
  });
  const rounds = await beside(world, sender, { ours: mine, other: nginx }, bytes, 'nginx, without a sync');
  await inner.end();
  return rounds;
}

async function beside(
  { options, say }: Bench,
  sender: Sender,
  { ours, other }: { ours: Taker; other: Taker },
  bytes: number,
  what: string,
): Promise<Beside> {
  await warmUp(sender, [ours, other], bytes);
  const rounds: { ours: Taken; other: Taken }[] = [];
  for (let round = 1; round <= options.repeat; round++) {
    const taken = await eachFirstInTurn(
      round,
      () => send(sender, ours, bytes),
      () => send(sender, other, bytes),
    );
    rounds.push(taken);
    say(
      `round ${round}: ${Math.round(taken.ours.megabytesPerSecond)} of ${Math.round(taken.other.megabytesPerSecond)} MB/s, ${what}`,
    );
  }
  return quietOnes(rounds, ({ ours, other }) => [ours.otherCores, other.otherCores]);
}

/** Both have compiled what they run often before anything counts: that takes some gigabytes. */
async function warmUp(sender: Sender, takers: readonly Taker[], bytes: number): Promise<void> {
  for (let round = 0; round < 3; round++) for (const taker of takers) await send(sender, taker, bytes);
}

async function send(sender: Sender, { url, fields, folder }: Taker, bytes: number): Promise<Taken> {
  // Sender, servers and database are all below this process, but for what PostgreSQL writes behind.
  const used = () => usageOf(process.pid).cpuSeconds;
  const before = { used: used(), busy: machineBusySeconds() };
  const { seconds } = await sender.send({ url, fields, bytes });
  const others = machineBusySeconds() - before.busy - (used() - before.used);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { megabytesPerSecond: bytes / 1e6 / seconds, otherCores: Math.max(0, others / seconds) };
}

function report({
  machine,
  bytes,
  sizes,
  peaks,
  onDisk,
  nginx,
}: {
  machine: string;
  bytes: number;
  sizes: [number, number];
  peaks: [number, number];
  onDisk: Beside;
  nginx: Beside | undefined;
}): string {
  const rate = ({ megabytesPerSecond }: Taken) => megabytesPerSecond;
  const ratio = (rounds: Beside) => spreadBy(rounds, ({ ours, other }) => rate(ours) / rate(other));
  const toFloor = ratio(onDisk);
  const toNginx = nginx && ratio(nginx);
  const size = (bytes: number) => `${bytes / MIB} MiB`;
  const memory: Verdict[] = peaks.map((peak, index) => ({
    what: `peak memory while ${size(sizes[index]!)} are taken, three times`,
    target: '≤ 160 MB',
    measured: megabytes(peak),
    isMet: peak <= 160e6,
  }));
  return [
    '## Uploads',
    '',
    machine,
    '',
    verdictTable([
      atLeast('MB/s synced to disk, of a bare multipart stream’s', 0.9, toFloor),
      ...(toNginx ? [atLeast('MB/s without a sync, of nginx’s body in a file', 1, toNginx)] : []),
      ...memory,
    ]),
    '',
    `One resume of ${size(bytes)} at a time; ours is hashed, looked into, synced and written into the database as well.`,
    tellRounds(nginx ? [onDisk, nginx] : [onDisk]),
    '',
    table(
      ['', 'Induct, MB/s', 'floor, MB/s', 'ratio'],
      [
        { what: '@fastify/multipart to a file, synced', rounds: onDisk },
        ...(nginx ? [{ what: 'nginx, its body in a file, neither synced', rounds: nginx }] : []),
      ].map(({ what, rounds }) => [
        what,
        spread(spreadBy(rounds, ({ ours }) => rate(ours))),
        spread(spreadBy(rounds, ({ other }) => rate(other))),
        spread(ratio(rounds)),
      ]),
    ),
    ...(nginx ? [] : ['', 'nginx is not installed.']),
  ].join('\n');
}
