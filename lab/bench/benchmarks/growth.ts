import { fillDatabase } from '../../../tests/harness/fillDatabase.ts';
import { compare } from '../compare.ts';
import { measure, runMetrics } from '../measure.ts';
import { atMost, figure, type Section, section } from '../report.ts';
import { makeOurDatabase, type Subject, startOurs } from '../subjects.ts';
import { type Bench, startWorld, type World } from '../world.ts';

const CONCURRENCY = 16;

/** The benchmark `growth`: compares the joins on a small database with those on a large one. */
export async function benchmarkGrowth(bench: Bench): Promise<Section> {
  const { options } = bench;
  const world = await startWorld(bench);
  const [few, many] = options.sessions;
  const small = await startFilled(world, few);
  const large = await startFilled(world, many);
  const { ratio, report } = await compare(world, {
    title: `${CONCURRENCY} joins at a time`,
    ours: () => measure(world, large.subject, CONCURRENCY),
    other: () => measure(world, small.subject, CONCURRENCY),
    names: [`with ${few} sessions`, `with ${many}`],
    metrics: runMetrics,
  });
  return section(
    'Growth',
    [atMost(`CPU a join with ${many} sessions, times that with ${few}`, 1.2, ratio('CPU ms a join'))],
    `The same calls, 16 joiners at a time. A session takes ${figure(large.bytes / many / 1000)} kB on disk.`,
    report,
  );
}

/** Starts a server on a filled database. `bytes` is the size of its tables and indexes right after filling. */
async function startFilled(world: World, sessions: number): Promise<{ subject: Subject; bytes: number }> {
  const database = await makeOurDatabase(world);
  await fillDatabase(database.client, sessions, (done) => {
    world.scope.signal.throwIfAborted();
    world.say(`${done} of ${sessions} sessions are written`);
  });
  const { rows } = await database.client.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(oid))::float8 as bytes
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  return { subject: await startOurs(world, database), bytes: rows[0]!.bytes };
}
