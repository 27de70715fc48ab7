import { describeMachine } from '../accounting/machine.ts';
import { measure, mostJoins, type Run } from '../accounting/measure.ts';
import { quietOnes, type Rounds, spreadBy, tellRounds } from '../accounting/rounds.ts';
import { countStatements, type StatementCount } from '../accounting/statements.ts';
import { everyStep, withoutProvider } from '../flows/flows.ts';
import { findPgbench, type PgbenchRun, runPgbench } from '../pgbench.ts';
import { figure, megabytes, spread, table } from '../report/table.ts';
import { atLeast, atMost, type Verdict, verdictTable } from '../report/verdicts.ts';
import { makeOurDatabase, type Subject, startFloor, startOurs } from '../servers.ts';
import { type Bench, connectTo, innerWorld, startWorld, switchCounting, type World } from '../world.ts';

/** Floor and ours measured right after one another. */
interface Pair {
  floor: Run;
  ours: Run;
}

type ByConcurrency<Round> = Map<number, Rounds<Round>>;

/** Complete joins under load: the eight calls that speak to no provider beside the floor's, and all of them. */
export async function benchmarkServer(bench: Bench): Promise<string> {
  const world = await startWorld(bench);
  const statements = await countOnBoth(world);
  const pgbench = findPgbench();
  const bare = new Map<number, PgbenchRun[]>();
  const eight = await measurePairs(bench, world, withoutProvider, async (floor, concurrency) => {
    if (!pgbench) return;
    add(bare, concurrency, await runPgbench(world, pgbench, { databaseUrl: floor.databaseUrl, concurrency }));
  });
  const whole = await measurePairs(bench, world, everyStep);
  return report({
    machine: await describeMachine(await connectTo(world, world.postgres.url)),
    statements,
    eight: quiet(eight, ({ floor, ours }) => [floor.otherCores, ours.otherCores]),
    whole: quiet(whole, ({ floor, ours }) => [floor.otherCores, ours.otherCores]),
    bare: quiet(bare, ({ otherCores }) => [otherCores]),
  });
}

/**
 * Both sides in turn, on servers and databases of their own: what joins that pay leave to be done for minutes (events of
 * Stripe that are looked through, members of whom the CRM is told) would fall into the measurements of those that do not.
 */
async function measurePairs(
  { options, say }: Bench,
  outer: World,
  steps: readonly string[],
  after: (floor: Subject, concurrency: number) => Promise<void> = async () => {},
): Promise<Map<number, Pair[]>> {
  const { repeat, concurrencies } = options;
  const pays = steps === everyStep;
  const world = innerWorld(outer);
  const floor = await startFloor(world);
  const known = pays ? mostJoins(options, true) * (repeat * concurrencies.length + 1) + 100 : 0;
  const ours = await startOurs(world, await makeOurDatabase(world, 'ours'), { known });
  const pair = async (concurrency: number): Promise<Pair> => ({
    floor: await measure(world, floor, { concurrency, steps }),
    ours: await measure(world, ours, { concurrency, steps }),
  });
  // Both have compiled what they run often before anything counts.
  await pair(16);
  const pairs = new Map<number, Pair[]>();
  for (let round = 1; round <= repeat; round++)
    for (const concurrency of concurrencies) {
      const measured = await pair(concurrency);
      say(`round ${round}, ${concurrency} at a time${pays ? ', whole joins' : ''}: ${told(measured)}`);
      add(pairs, concurrency, measured);
      await after(floor, concurrency);
    }
  await world.end();
  return pairs;
}

/** On servers of their own: a statement that was prepared before is not counted. */
async function countOnBoth(world: World): Promise<Results['statements']> {
  await switchCounting(world, true);
  const inner = innerWorld(world);
  const database = await makeOurDatabase(inner, 'ours');
  const counts = {
    floor: await countStatements(await startFloor(inner), everyStep),
    ours: await countStatements(await startOurs(inner, database, { known: 200 }), everyStep),
  };
  await inner.end();
  await switchCounting(world, false);
  return counts;
}

function add<Round>(to: Map<number, Round[]>, concurrency: number, round: Round): void {
  to.set(concurrency, [...(to.get(concurrency) ?? []), round]);
}

function quiet<Round>(
  rounds: Map<number, Round[]>,
  otherCores: (round: Round) => number[],
): ByConcurrency<Round> {
  return new Map([...rounds].map(([concurrency, all]) => [concurrency, quietOnes(all, otherCores)]));
}

const cpuOf = ({ cpuMs }: Run) => cpuMs.node + cpuMs.postgres;

function told({ floor, ours }: Pair): string {
  const both = (of: (run: Run) => number) =>
    `${figure(of(ours))} of ${figure(of(floor))}, ${figure(of(ours) / of(floor))}`;
  return [
    `joins/s ${both((run) => run.joinsPerSecond)}`,
    `CPU ms ${both(cpuOf)}`,
    `call p99 ms ${both((run) => run.load.call.p99)}`,
    `others ${figure(Math.max(floor.otherCores, ours.otherCores))} cores`,
  ].join('; ');
}

interface Results {
  machine: string;
  statements: { floor: StatementCount[]; ours: StatementCount[] };
  eight: ByConcurrency<Pair>;
  whole: ByConcurrency<Pair>;
  bare: ByConcurrency<PgbenchRun>;
}

function report({ machine, statements, eight, whole, bare }: Results): string {
  return [
    '## Server',
    '',
    machine,
    '',
    verdictTable(verdicts(eight, statements.ours)),
    '',
    'In brackets the smallest and the largest of all rounds. A ratio is that of two measurements right after one another.',
    tellRounds([...eight.values(), ...whole.values(), ...bare.values()]),
    '',
    '### The eight calls that speak to no provider',
    '',
    throughputTable(eight),
    '',
    latencyTable(eight),
    '',
    '### Whole joins, with the payment',
    '',
    'Ours asks the stand-in for Stripe, which is a process of its own; the floor does its ten calls without a provider.',
    'Ours also begins the payment, as the page does before the card is confirmed, and takes Stripe’s webhooks.',
    '',
    wholeTable(whole),
    '',
    '### Statements of a join',
    '',
    statementTable(statements),
    '',
    '### pgbench: the floor’s eleven statements without a server',
    '',
    bare.size === 0
      ? 'pgbench is not installed.'
      : table(
          ['at a time', 'joins/s', 'PostgreSQL, CPU ms a join'],
          [...bare].map(([concurrency, rounds]) => [
            String(concurrency),
            spread(spreadBy(rounds, ({ joinsPerSecond }) => joinsPerSecond)),
            spread(spreadBy(rounds, ({ postgresMs }) => postgresMs)),
          ]),
        ),
  ].join('\n');
}

/** Ours divided by the floor's. */
function ratio(rounds: Rounds<Pair>, of: (run: Run) => number) {
  return spreadBy(rounds, ({ floor, ours }) => of(ours) / of(floor));
}

function verdicts(eight: ByConcurrency<Pair>, ours: readonly StatementCount[]): Verdict[] {
  const [ten, most] = countOf(ours);
  return [...eight]
    .flatMap(([concurrency, rounds]) => [
      ...(concurrency >= 16
        ? [
            atLeast(
              `joins/s at ${concurrency}, of the floor’s`,
              0.55,
              ratio(rounds, (run) => run.joinsPerSecond),
            ),
          ]
        : []),
      ...(concurrency === 16
        ? [
            atMost('CPU a join at 16, times the floor’s', 1.7, ratio(rounds, cpuOf)),
            atMost(
              'p99 of a call at 16, times the floor’s',
              1.8,
              ratio(rounds, (run) => run.load.call.p99),
            ),
          ]
        : []),
      ...(concurrency === 64
        ? [
            atMost(
              'memory at 64, times the floor’s',
              1.25,
              ratio(rounds, (run) => run.rssBytes),
            ),
          ]
        : []),
    ])
    .concat([
      {
        what: 'statements of a join’s ten calls',
        target: '≤ 20',
        measured: figure(ten),
        isMet: ten <= 20,
      },
      {
        what: 'statements of a call that speaks to no provider',
        target: '≤ 1',
        measured: figure(most),
        isMet: most <= 1,
      },
    ]);
}

/** All statements of the ten calls, with BEGIN and COMMIT; and the most of a call without a provider. */
function countOf(counts: readonly StatementCount[]): [ten: number, most: number] {
  const all = ({ statements, control }: StatementCount) => statements + control;
  const ten = counts.filter(({ step }) => !['begin', 'card', 'webhooks'].includes(step));
  const ordinary = counts.filter(({ step }) => withoutProvider.includes(step));
  return [ten.reduce((sum, count) => sum + all(count), 0), Math.max(...ordinary.map(all))];
}

function throughputTable(rounds: ByConcurrency<Pair>): string {
  return table(
    [
      'at a time',
      'joins/s: floor',
      'Induct',
      'ratio',
      'CPU ms, node + PostgreSQL: floor',
      'Induct',
      'ratio',
      'load generator: floor',
      'Induct',
    ],
    [...rounds].map(([concurrency, pairs]) => {
      const median = (of: (pair: Pair) => number) => figure(spreadBy(pairs, of).median);
      const cpu = (side: keyof Pair) =>
        `${median((pair) => pair[side].cpuMs.node)} + ${median((pair) => pair[side].cpuMs.postgres)}`;
      return [
        String(concurrency),
        median(({ floor }) => floor.joinsPerSecond),
        median(({ ours }) => ours.joinsPerSecond),
        spread(ratio(pairs, (run) => run.joinsPerSecond)),
        cpu('floor'),
        cpu('ours'),
        spread(ratio(pairs, cpuOf)),
        `${median(({ floor }) => floor.cpuMs.generator)} ms`,
        `${median(({ ours }) => ours.cpuMs.generator)} ms`,
      ];
    }),
  );
}

function latencyTable(rounds: ByConcurrency<Pair>): string {
  return table(
    [
      'at a time',
      '',
      'join p50, p99 ms',
      'call p50, p99 ms',
      'p99 of a call, ratio',
      'memory (its share)',
      'memory, ratio',
    ],
    [...rounds].flatMap(([concurrency, pairs]) =>
      (['floor', 'ours'] as const).map((side) => {
        const median = (of: (run: Run) => number) => spreadBy(pairs, (pair) => of(pair[side])).median;
        return [
          String(concurrency),
          side === 'ours' ? 'Induct' : 'floor',
          `${figure(median(({ load }) => load.join.p50))}, ${figure(median(({ load }) => load.join.p99))}`,
          `${figure(median(({ load }) => load.call.p50))}, ${figure(median(({ load }) => load.call.p99))}`,
          side === 'ours' ? spread(ratio(pairs, ({ load }) => load.call.p99)) : '',
          `${megabytes(median(({ rssBytes }) => rssBytes))} (${megabytes(median(({ pssBytes }) => pssBytes))})`,
          side === 'ours' ? spread(ratio(pairs, ({ rssBytes }) => rssBytes)) : '',
        ];
      }),
    ),
  );
}

function wholeTable(rounds: ByConcurrency<Pair>): string {
  return table(
    [
      'at a time',
      'joins/s',
      'join p50, p99 ms',
      'node',
      'PostgreSQL',
      'Stripe’s stand-in',
      'HubSpot’s stand-in',
      'load generator',
      'memory',
      'floor: joins/s',
      'floor: node + PostgreSQL',
    ],
    [...rounds].map(([concurrency, pairs]) => {
      const ours = (of: (run: Run) => number) => figure(spreadBy(pairs, (pair) => of(pair.ours)).median);
      const floor = (of: (run: Run) => number) => figure(spreadBy(pairs, (pair) => of(pair.floor)).median);
      return [
        String(concurrency),
        ours((run) => run.joinsPerSecond),
        `${ours(({ load }) => load.join.p50)}, ${ours(({ load }) => load.join.p99)}`,
        ...(['node', 'postgres', 'stripe', 'hubspot', 'generator'] as const).map(
          (part) => `${ours(({ cpuMs }) => cpuMs[part])} ms`,
        ),
        megabytes(spreadBy(pairs, ({ ours }) => ours.rssBytes).median),
        floor((run) => run.joinsPerSecond),
        `${floor(({ cpuMs }) => cpuMs.node)} + ${floor(({ cpuMs }) => cpuMs.postgres)} ms`,
      ];
    }),
  );
}

function statementTable({ floor, ours }: Results['statements']): string {
  const rows = ours.map((count) => ({
    ...count,
    floor: floor.find(({ step }) => step === count.step),
  }));
  const total = (counts: readonly StatementCount[], of: (count: StatementCount) => number) =>
    figure(counts.reduce((sum, count) => sum + of(count), 0));
  const cells = (count: StatementCount | undefined) =>
    count ? [figure(count.statements), figure(count.control), figure(count.ms)] : ['', '', ''];
  return table(
    ['call', 'floor', 'BEGIN, COMMIT', 'ms', 'Induct', 'BEGIN, COMMIT', 'ms'],
    [
      ...rows
        .filter(({ step }) => step !== 'card')
        .map(({ step, floor, ...count }) => [step, ...cells(floor), ...cells({ step, ...count })]),
      [
        '**all**',
        ...[floor, ours].flatMap((counts) => [
          total(counts, ({ statements }) => statements),
          total(counts, ({ control }) => control),
          total(counts, ({ ms }) => ms),
        ]),
      ],
    ],
  );
}
