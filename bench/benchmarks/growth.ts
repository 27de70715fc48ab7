import { fillDatabase } from '../../apps/server/testing/fillDatabase.ts';
import { describeMachine } from '../accounting/machine.ts';
import { type Measured, measure, mostJoins, type Run, underLoad } from '../accounting/measure.ts';
import { quietOnes, type Rounds, spreadBy, tellRounds } from '../accounting/rounds.ts';
import { countStatements, type StatementCount } from '../accounting/statements.ts';
import { withoutProvider } from '../flows/flows.ts';
import { figure, megabytes, spread, table } from '../report/table.ts';
import { atLeast, atMost, verdictTable } from '../report/verdicts.ts';
import { makeOurDatabase, type OurDatabase, startOurs, together } from '../servers.ts';
import { type Bench, innerWorld, startWorld, switchCounting, type World } from '../world.ts';

const CONCURRENCY = 16;
const how: Measured = { concurrency: CONCURRENCY, steps: withoutProvider };

/** The same joins on a small and on a large database, and on one and on two server processes. */
export async function benchmarkGrowth(bench: Bench): Promise<string> {
  const { options, say } = bench;
  const world = await startWorld(bench);
  const [few, many] = options.sessions as [number, number];
  const small = await filled(world, few);
  const large = await filled(world, many);
  const statements = [await countOn(world, small), await countOn(world, large)] as const;

  const onSmall = await startOurs(world, small);
  const onLarge = await startOurs(world, large);
  const sharing = await startOurs(world, await filled(world, few, 'shared'), { processes: 2 });
  const apart = together(
    await startOurs(world, await filled(world, few, 'first')),
    await startOurs(world, await filled(world, few, 'second')),
  );
  const sizes: SizeRound[] = [];
  const processes: ProcessRound[] = [];
  for (let round = 0; round <= options.repeat; round++) {
    const size = { small: await measure(world, onSmall, how), large: await measure(world, onLarge, how) };
    const process = {
      one: await measure(world, onSmall, how),
      apart: await measure(world, apart, { ...how, concurrency: 2 * CONCURRENCY }),
      sharing: await measure(world, sharing, { ...how, concurrency: 2 * CONCURRENCY }),
    };
    // The first round is for warming up.
    if (round === 0) continue;
    sizes.push(size);
    processes.push(process);
    say(
      `round ${round}: CPU a join ${figure(cpuOf(size.small))} ms with ${few} sessions, ${figure(cpuOf(size.large))} ms with ${many}; ` +
        `${figure(process.one.joinsPerSecond)} joins/s by one process, ${figure(process.sharing.joinsPerSecond)} by two`,
    );
  }

  const upkeep = await loadFor(world, onLarge, large, options.quick ? 10 : 120);
  return report({
    machine: await describeMachine(small.client),
    few,
    many,
    filled: { small: small.bytes, large: large.bytes },
    statements,
    sizes: quietOnes(sizes, ({ small, large }) => [small.otherCores, large.otherCores]),
    processes: quietOnes(processes, ({ one, apart, sharing }) => [
      one.otherCores,
      apart.otherCores,
      sharing.otherCores,
    ]),
    upkeep,
  });
}

interface SizeRound {
  small: Run;
  large: Run;
}
interface ProcessRound {
  one: Run;
  /** Two servers with a database each, and as many joins at a time for each as for the one. */
  apart: Run;
  /** The same with one database. */
  sharing: Run;
}

/** With the size that it had when nothing but the filling had been done. */
async function filled(
  world: World,
  sessions: number,
  name = `filled_${sessions}`,
): Promise<OurDatabase & { bytes: Bytes }> {
  const database = await makeOurDatabase(world, name);
  const began = performance.now();
  await fillDatabase(database.client, sessions, (done) => {
    world.scope.signal.throwIfAborted();
    world.say(`${done} of ${sessions} sessions are written, ${figure((performance.now() - began) / 1000)} s`);
  });
  return { ...database, bytes: await bytesOf(database) };
}

async function countOn(world: World, database: OurDatabase): Promise<StatementCount[]> {
  await switchCounting(world, true);
  const inner = innerWorld(world);
  const counts = await countStatements(await startOurs(inner, database), withoutProvider);
  await inner.end();
  await switchCounting(world, false);
  return counts;
}

/** Tables with their indexes (bytes): all, and those that joins write, which the mirror of contacts is not. */
interface Bytes {
  all: number;
  joins: number;
}

async function bytesOf({ client }: OurDatabase): Promise<Bytes> {
  const { rows } = await client.query<Bytes>(
    `select sum(pg_total_relation_size(oid))::float8 as all,
       sum(pg_total_relation_size(oid)) filter (where relname not in ('contact', 'invitation'))::float8 as joins
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  return rows[0]!;
}

interface Upkeep {
  seconds: number;
  joins: number;
  /** What the joins added (bytes). */
  bytes: number;
  tables: {
    name: string;
    rows: number;
    dead: number;
    updates: number;
    /** Updates that touched no index. */
    hot: number;
    vacuums: number;
  }[];
}

/** A longer load on which only PostgreSQL's own vacuum works. */
async function loadFor(
  world: World,
  subject: Awaited<ReturnType<typeof startOurs>>,
  database: OurDatabase,
  seconds: number,
): Promise<Upkeep> {
  const before = await bytesOf(database);
  await database.client.query('select pg_stat_reset()');
  await database.client.query('analyze');
  let joins = 0;
  const piece = Math.min(seconds, 20);
  for (let spent = 0; spent < seconds; spent += piece) {
    const people = await subject.people(mostJoins({ seconds: piece, warmUpSeconds: 0 }, false), false);
    const run = await underLoad(world, subject, { ...how, people, seconds: piece, warmUpSeconds: 0 });
    joins += run.load.joins;
    world.say(`${spent + piece} of ${seconds} s under load: ${figure(run.joinsPerSecond)} joins/s`);
  }
  const after = await bytesOf(database);
  const { rows } = await database.client.query<Upkeep['tables'][number]>(
    `select relname as name, n_live_tup::int as rows, n_dead_tup::int as dead, n_tup_upd::int as updates, n_tup_hot_upd::int as hot,
       autovacuum_count::int as vacuums
     from pg_stat_user_tables where n_tup_upd > 0 order by n_tup_upd desc`,
  );
  return { seconds, joins, bytes: after.joins - before.joins, tables: rows };
}

const cpuOf = ({ cpuMs }: Run) => cpuMs.node + cpuMs.postgres;

function report({
  machine,
  few,
  many,
  filled,
  statements,
  sizes,
  processes,
  upkeep,
}: {
  machine: string;
  few: number;
  many: number;
  filled: Record<'small' | 'large', Bytes>;
  statements: readonly [StatementCount[], StatementCount[]];
  sizes: Rounds<SizeRound>;
  processes: Rounds<ProcessRound>;
  upkeep: Upkeep;
}): string {
  const count = (sessions: number) => sessions.toLocaleString('en');
  const median = <Round>(rounds: Rounds<Round>, of: (round: Round) => number) =>
    figure(spreadBy(rounds, of).median);
  const run = <Round>(rounds: Rounds<Round>, name: string, of: (round: Round) => Run) => [
    name,
    median(rounds, (round) => of(round).joinsPerSecond),
    `${median(rounds, (round) => of(round).cpuMs.node)} + ${median(rounds, (round) => of(round).cpuMs.postgres)}`,
    median(rounds, (round) => of(round).load.call.p99),
  ];
  /** Of the second to the first. */
  const ratios = <Round>(rounds: Rounds<Round>, both: (round: Round) => [Run, Run]) => {
    const ratio = (of: (run: Run) => number) =>
      spread(
        spreadBy(rounds, (round) => {
          const [first, second] = both(round);
          return of(second) / of(first);
        }),
      );
    return [ratio(({ joinsPerSecond }) => joinsPerSecond), ratio(cpuOf), ratio(({ load }) => load.call.p99)];
  };
  const each = (bytes: number, sessions: number) => `${figure(bytes / sessions / 1000)} kB`;
  const capacity = spreadBy(processes, ({ apart, sharing }) => (2 * apart.cpuMs.node) / sharing.cpuMs.node);
  const dead = Math.max(...upkeep.tables.filter(({ rows }) => rows > 1000).map((one) => one.dead / one.rows));
  const head = ['', 'joins/s', 'CPU ms a join, node + PostgreSQL', 'call p99 ms'];
  return [
    '## Growth',
    '',
    machine,
    '',
    verdictTable([
      atMost(
        `CPU a join with ${count(many)} sessions, times that with ${count(few)}`,
        1.2,
        spreadBy(sizes, ({ small, large }) => cpuOf(large) / cpuOf(small)),
      ),
      atLeast('joins that two processes have processor time for, times one’s', 1.7, capacity),
      {
        what: `dead rows of any table after ${upkeep.seconds} s of load`,
        target: '≤ 20 %',
        measured: `${figure(dead * 100)} %`,
        isMet: dead <= 0.2,
      },
    ]),
    '',
    `The eight calls that speak to no provider, ${CONCURRENCY} joins at a time. ${tellRounds([sizes, processes])}`,
    '',
    table(head, [
      run(sizes, `${count(few)} sessions`, ({ small }) => small),
      run(sizes, `${count(many)} sessions`, ({ large }) => large),
      ['ratio', ...ratios(sizes, ({ small, large }) => [small, large])],
    ]),
    '',
    'PostgreSQL’s time for each call, planning and execution (ms):',
    '',
    table(
      ['call', count(few), count(many), 'ratio'],
      statements[0].map(({ step, ms }, index) => {
        const large = statements[1][index]!.ms;
        return [step, figure(ms), figure(large), figure(large / ms)];
      }),
    ),
    '',
    '### On disk',
    '',
    table(
      ['', 'all, for a session', 'without contacts and codes'],
      [
        [`filled with ${count(few)}`, each(filled.small.all, few), each(filled.small.joins, few)],
        [`filled with ${count(many)}`, each(filled.large.all, many), each(filled.large.joins, many)],
        [
          `added by ${count(Math.round(upkeep.joins))} joins up to their order`,
          '',
          each(upkeep.bytes, upkeep.joins),
        ],
      ],
    ),
    '',
    `Tables that ${upkeep.seconds} s of load changed, with PostgreSQL’s own vacuum alone:`,
    '',
    table(
      ['', 'rows', 'updates', 'that touched no index', 'dead rows', 'vacuumed'],
      upkeep.tables.map(({ name, rows, dead, updates, hot, vacuums }) => [
        name,
        count(rows),
        count(updates),
        `${figure((hot / updates) * 100)} %`,
        count(dead),
        `${vacuums} times`,
      ]),
    ),
    '',
    '### Two processes',
    '',
    `${CONCURRENCY} joins at a time for each process, with ${count(few)} sessions in every database. Joins/s show what this machine’s cores`,
    'leave when the database and the load generator take theirs; node’s processor time for a join shows what a second process',
    'adds where there is a core for it. It is compared with that of two servers that have nothing to do with one another:',
    'on two cores that are both busy, the same work takes longer than on one.',
    '',
    table(head, [
      run(processes, 'one process', ({ one }) => one),
      run(processes, 'two, with a database each', ({ apart }) => apart),
      run(processes, 'two, with one database', ({ sharing }) => sharing),
      ['of one process', ...ratios(processes, ({ one, sharing }) => [one, sharing])],
      ['of two with a database each', ...ratios(processes, ({ apart, sharing }) => [apart, sharing])],
    ]),
    '',
    `Memory: ${megabytes(spreadBy(processes, ({ one }) => one.rssBytes).median)} and ${megabytes(spreadBy(processes, ({ sharing }) => sharing.rssBytes).median)}.`,
  ].join('\n');
}
