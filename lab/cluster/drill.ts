import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathOf } from '#contract/calls.ts';
import { reconcile } from '../../apps/server/books/reconcile.ts';
import { connectToPrimary, refuseReadOnly } from '../../apps/server/platform/database/primary.ts';
import { S3_BUCKET, startS3Emulator } from '../../emulators/s3/server.ts';
import { random } from '../../tests/faults/random.ts';
import { pdf } from '../../tests/harness/documents.ts';
import { postgresPrograms } from '../../tests/harness/installedPostgres.ts';
import { type Failure, startJoiners } from '../../tests/harness/joiners.ts';
import { listStripe } from '../../tests/harness/providers.ts';
import { Scope } from '../../tests/harness/scope.ts';
import { type ServerProcess, startServerProcess, withSettings } from '../../tests/harness/serverProcess.ts';
import { startTestServer } from '../../tests/harness/testServer.ts';
import { until } from '../../tests/harness/until.ts';
import { postPdf } from '../../tests/harness/uploads.ts';
import { Cluster } from './database.ts';
import { address, here, setCut, startNetwork } from './network.ts';
import { type Gap, Prober } from './prober.ts';

/** How many people join at the same time. */
const JOINERS = 6;
/**
 * How long (ms) the joiners may take to make two joins each on average. A server may take equally long to start, and so may
 * HAProxy.
 */
const PATIENCE_MS = 120_000;
/**
 * A call that begins at most this long (ms) after the database accepts writes again may still fail: it may use a connection that
 * gets no answer and has not reached its timeout yet.
 */
const AFTERWARDS_MS = 15_000;
/**
 * A call that begins at most this long (ms) before the database stops taking writes may fail, since it may still be running then.
 */
const BEFORE_MS = 5_000;
const HAPROXY = 2;
const SERVERS = [21, 22, 23];
const example = join(import.meta.dirname, '../../ops/cluster/haproxy.cfg');

/**
 * Runs the drill, and at the end stops everything that it started. Resolves with a sentence for each fault: for each acknowledged
 * write that was lost, and for each call that failed although it should have succeeded.
 */
export async function runDrill(
  seed: number,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<string[]> {
  const scope = new Scope(signal);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  try {
    return await Promise.race([play(scope, seed, say), aborted]);
  } finally {
    await scope.end();
  }
}

async function play(scope: Scope, seed: number, say: (line: string) => void): Promise<string[]> {
  const began = performance.now();
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const { integer, deck } = random(seed);
  const differences: string[] = [];

  const folder = mkdtempSync(join(tmpdir(), 'induct-cluster-'));
  scope.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const machines = startNetwork(scope, { db1: 11, db2: 12, db3: 13 }, [1, HAPROXY, ...SERVERS]);
  const cluster = new Cluster(machines, folder, postgresPrograms!);
  for (const machine of machines) cluster.start(machine);
  const { leader } = await cluster.whole();
  say(`Three databases, ${leader.name} leads: ${seconds(performance.now() - began)} s`);

  const s3 = await startS3Emulator({ dataDir: join(folder, 's3') });
  scope.onEnd(() => s3.close());
  const viaHaproxy = (database: string) =>
    cluster.url(database).replace(/@[^/]*/, `@${address(HAPROXY)}:5432`);
  await startHaproxy(scope, folder, viaHaproxy('postgres'));
  const arranged = await startTestServer({}, { postgresUrl: viaHaproxy('postgres') });
  // Dropping the database fails or hangs when the cluster is broken, so the drill waits at most 5 s for it. Nothing is left
  // behind: the machines are removed afterwards, together with the database on them.
  scope.onEnd(() => Promise.race([arranged.close().catch(() => {}), pause(5_000)]));
  const database = new URL(arranged.deps.config.databaseUrl).pathname.slice(1);
  // The first server reaches its database through HAProxy. The other servers have a URL that lists all database hosts.
  const startServer = (index: number) =>
    startServerProcess(
      withSettings(arranged, {
        HOST: address(SERVERS[index]!),
        PORT: '3000',
        DATABASE_URL: index === 0 ? viaHaproxy(database) : cluster.url(database),
        DATA_DIR: join(folder, `server${index + 1}`),
        TRUST_PROXY: `${address(0)}/24`,
        STORAGE_URL: `s3://${S3_BUCKET}/documents?endpoint=${s3.url}`,
        STORAGE_ACCESS_KEY_ID: s3.keys.accessKeyId,
        STORAGE_SECRET_ACCESS_KEY: s3.keys.secretAccessKey,
        LOG_LEVEL: 'warn',
      }),
    );
  const servers: ServerProcess[] = await Promise.all(SERVERS.map((_, index) => startServer(index)));
  scope.onEnd(() => Promise.all(servers.map((server) => server.kill())));
  const url = `http://${address(HAPROXY)}:8080`;
  await until(async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true);

  const prober = new Prober(cluster.url('postgres'));
  await prober.start();
  scope.onEnd(() => prober.stop());
  const hashes: string[] = [];
  const joiners = startJoiners(arranged, url, JOINERS, async (client, uuid) => {
    const bytes = pdf({ size: 20_000, trailer: `/Of (${randomUUID()})` });
    await postPdf(client, pathOf('uploadTranscript', { uuid }), { bytes });
    hashes.push(createHash('sha256').update(bytes).digest('hex'));
  });
  scope.onEnd(() => joiners.leave());
  const { joined, broken } = joiners;
  const go = async () => {
    const sofar = joined.length;
    await until(() => joined.length >= sofar + 2 * JOINERS);
  };
  await Promise.race([go(), broken]);
  say(`Three servers, ${JOINERS} joiners at a time: ${seconds(performance.now() - began)} s`);

  /**
   * Runs `work`, which stops or disconnects something. Then waits until the joiners have made two more joins each on average.
   * `judge` returns a sentence for each call that failed during this time and should have succeeded.
   */
  const during = async (name: string, work: () => Promise<unknown>, judge: Judge) => {
    await pause(integer(3_000));
    joiners.failures = [];
    const from = performance.now();
    const before = joined.length;
    await Promise.race([work(), broken]);
    await Promise.race([go(), broken]);
    const { failures } = joiners;
    const gaps = prober.gaps(from);
    const lengths = gaps.map((gap) => `${seconds(gap.to - gap.from)} s`).join(' and ') || '0 s';
    const [first, last] = [failures.map((each) => each.from), failures.map(({ to }) => to)];
    const lasted = failures.length === 0 ? 0 : Math.max(...last) - Math.min(...first);
    const proxys = failures.filter(({ isOurs }) => !isOurs).length;
    say(
      `${seconds(from - began).padStart(6)} s  ${name}: no writes for ${lengths}; ${failures.length} calls failed within ${seconds(lasted)} s, ${proxys} of them without a sentence; ${joined.length - before} joins meanwhile`,
    );
    for (const text of judge(failures, gaps)) differences.push(`${name}: ${text}`);
  };

  const kill = async () => {
    const index = integer(3);
    await during(
      `kill -9 of server ${index + 1}`,
      async () => {
        await servers[index]!.kill();
        await go();
        servers[index] = await startServer(index);
      },
      onlyUnderWay,
    );
  };
  const roll = async () => {
    const index = integer(3);
    await during(
      `roll of server ${index + 1}`,
      async () => {
        const code = await servers[index]!.stop();
        if (code !== 0) differences.push(`server ${index + 1} ended with ${code}`);
        servers[index] = await startServer(index);
      },
      nothing,
    );
  };
  const killLeader = async () => {
    const { leader } = await cluster.whole();
    await during(
      `kill -9 of everything on ${leader.name}, which leads`,
      async () => {
        leader.kill();
        await cluster.ledByAnotherThan(leader);
        await go();
        cluster.start(leader);
        await cluster.whole();
      },
      onlyWithoutDatabase,
    );
  };
  const cutOff = async () => {
    const { leader } = await cluster.whole();
    const others = machines.filter((machine) => machine !== leader);
    const cut = (isCut: boolean) => {
      for (const other of others) setCut(leader, other, isCut);
    };
    await during(
      `network cut between ${leader.name}, which leads, and both others`,
      async () => {
        cut(true);
        await cluster.ledByAnotherThan(leader);
        await go();
        cut(false);
        await cluster.whole();
      },
      onlyWithoutDatabase,
    );
  };
  const cutApart = async () => {
    const { leader, synchronous } = await cluster.whole();
    const ms = 10_000 + integer(10_000);
    await during(
      `network cut between ${leader.name}, which leads, and ${synchronous.name}, its synchronous standby, for ${seconds(ms)} s`,
      async () => {
        setCut(leader, synchronous, true);
        await pause(ms);
        setCut(leader, synchronous, false);
        await cluster.whole();
      },
      onlyWithoutDatabase,
    );
  };
  const faults = [kill, roll, killLeader, cutOff, cutApart];
  const next = deck(faults);
  for (const _ of faults) await next()();

  const isFinished = await Promise.race([
    joiners.finish().then(() => true),
    broken,
    pause(PATIENCE_MS, false, { ref: false }),
  ]);
  if (!isFinished) differences.push(`a join cannot be finished: ${joiners.failures.slice(-1).map(told)}`);
  await prober.stop();
  differences.push(...(await account()));
  for (const [index, server] of servers.entries())
    if (server.ended() !== null)
      differences.push(`server ${index + 1} ended by itself: ${server.output().slice(-500)}`);
  return differences;

  /**
   * Checks that no acknowledged write is lost, that every payment has exactly one membership, and that reconciling finds no
   * difference. Resolves with a sentence for each fault.
   */
  async function account(): Promise<string[]> {
    const { deps } = arranged;
    const members = await deps.database
      .selectFrom('membership')
      .where('is_held', '=', true)
      .select('payment_intent')
      .execute();
    const held = new Set(members.map(({ payment_intent }) => payment_intent));
    const paid = (await listStripe<{ id: string; status: string }>(arranged.stripeUrl, 'payment_intents'))
      .filter(({ status }) => status === 'succeeded')
      .map(({ id }) => id);
    const documents = await deps.database.selectFrom('document').select(['sha256', 'storage_key']).execute();
    const kept = new Set(documents.map(({ sha256 }) => sha256.toString('hex')));
    const objects = [...s3.bucket.objects.keys()];
    const unread = documents.filter(({ storage_key }) => !objects.some((key) => key.endsWith(storage_key)));
    const reconciled = await reconcile(deps, { graceMinutes: 0 });
    const { acknowledged, lost } = await prober.count();
    say(
      `${joined.length} joins acknowledged (${joiners.undecided.length} not at once: ${[...new Set(joiners.undecided)].join(', ') || 'none'}), ${paid.length} payments at Stripe, ${members.length} memberships; ${hashes.length} documents acknowledged, ${documents.length} kept; ${acknowledged} single commits acknowledged, ${lost.length} lost; reconcile: ${reconciled.differences.length} differences; ${seconds(performance.now() - began)} s`,
    );
    return [
      ...joined.filter((id) => !held.has(id)).map((id) => `the join of ${id} was acknowledged and is lost`),
      ...paid.filter((id) => !held.has(id)).map((id) => `${id} was paid and is no membership`),
      ...(members.length === paid.length ? [] : ['memberships and payments differ in number']),
      ...hashes
        .filter((hash) => !kept.has(hash))
        .map((hash) => `the document ${hash} was acknowledged and is lost`),
      ...unread.map(({ storage_key }) => `the document ${storage_key} is not in the bucket`),
      ...lost.map((number) => `the commit of ${number} was acknowledged and is lost`),
      ...reconciled.differences.map((each) => `reconcile: ${JSON.stringify(each)}`),
    ];
  }
}

/**
 * Judges the calls that failed during a fault. Returns a sentence for each call that should have succeeded; none if every failure
 * was to be expected.
 */
type Judge = (failures: readonly Failure[], gaps: readonly Gap[]) => string[];

const told = ({ call, text }: Failure) => `${call} failed: ${text.slice(0, 200)}`;
const nothing: Judge = (failures) => failures.map(told);
const onlyUnderWay: Judge = (failures) =>
  failures.length > JOINERS
    ? [`${failures.length} calls failed, more than were under way`, ...failures.map(told)]
    : [];
/**
 * Accepts a failed call on two conditions. The first: our server itself answered the call. The second: the call began while the
 * database took no writes, or less than BEFORE_MS before that time, or less than AFTERWARDS_MS after it.
 */
const onlyWithoutDatabase: Judge = (failures, gaps) => [
  ...failures.filter(({ isOurs }) => !isOurs).map(told),
  ...failures
    .filter(({ from }) => !gaps.some((gap) => from > gap.from - BEFORE_MS && from < gap.to + AFTERWARDS_MS))
    .map((failure) => `while the database took writes ${told(failure)}`),
];

/**
 * Starts HAProxy with the configuration in ops/cluster, but on plain HTTP, without a TLS certificate. Resolves when its connections
 * reach the primary.
 */
async function startHaproxy(scope: Scope, folder: string, database: string): Promise<void> {
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, here(readFileSync(example, 'utf8')).replace(/:443 ssl crt .*/, ':8080'));
  const output = openSync(join(folder, 'haproxy.log'), 'a');
  const haproxy = spawn('/usr/sbin/haproxy', ['-db', '-f', file], {
    stdio: ['ignore', output, output],
    detached: true,
  });
  const ended = once(haproxy, 'exit');
  scope.onEnd(async () => {
    haproxy.kill('SIGKILL');
    await ended;
  });
  await until(() => {
    if (haproxy.exitCode !== null)
      throw new Error(`HAProxy ended: ${readFileSync(join(folder, 'haproxy.log'), 'utf8')}`);
    // Until its first health checks, HAProxy distributes connections over the primary and the standbys. One connection could reach
    // the primary by chance, so three connections must reach it.
    return Promise.all([1, 2, 3].map(() => isPrimary(database))).then((all) => all.every(Boolean));
  });
}

async function isPrimary(database: string): Promise<boolean> {
  try {
    const { client } = await connectToPrimary(database);
    await refuseReadOnly(client, PATIENCE_MS).finally(() => client.end());
    return true;
  } catch {
    return false;
  }
}
