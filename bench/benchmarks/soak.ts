import { describeMachine } from '../accounting/machine.ts';
import { type Measured, type Run, underLoad } from '../accounting/measure.ts';
import { percentile, slopeOf, spreadOf } from '../accounting/numbers.ts';
import { usageOf } from '../accounting/processTree.ts';
import { withoutProvider } from '../flows/flows.ts';
import { figure, megabytes, table } from '../report/table.ts';
import { verdictTable } from '../report/verdicts.ts';
import { makeOurDatabase, startOurs } from '../servers.ts';
import { type Bench, startWorld } from '../world.ts';

const how: Measured = { concurrency: 64, steps: withoutProvider };
/** People are invited for so long at a time (s): contacts that HubSpot told of long ago would be asked for again. */
const PIECE_SECONDS = 20;
const SAMPLE_MS = 1_000;
/** More joins in a second than any piece will have. */
const FASTEST = 1600;
/** Of the joins of the fastest piece, invited for the next one. */
const MARGIN = 1.5;
/** Of the first half's median, in the second half: what is more is a leak. */
const MOST_GROWTH = 0.05;

interface Sample {
  seconds: number;
  rssBytes: number;
}

/** Full load for minutes on end, with the pushes to the CRM that follow it: memory has to stay where it is. */
export async function benchmarkSoak(bench: Bench): Promise<string> {
  const { options, say } = bench;
  const world = await startWorld(bench);
  const database = await makeOurDatabase(world, 'ours');
  const inAPiece = PIECE_SECONDS * FASTEST;
  const pieces = Math.ceil((options.minutes * 60) / PIECE_SECONDS);
  const ours = await startOurs(world, database, {
    known: Math.ceil(inAPiece * pieces * MARGIN) + how.concurrency * pieces,
  });

  const samples: Sample[] = [];
  const runs: Run[] = [];
  const began = performance.now();
  const timer = setInterval(() => {
    const [server] = ours.pids.node;
    samples.push({ seconds: (performance.now() - began) / 1000, rssBytes: usageOf(server!).rssBytes });
  }, SAMPLE_MS);
  world.scope.onEnd(() => clearInterval(timer));
  // More than the fastest piece took, since code that has run often is faster; for the first one, as many as any could.
  let count = inAPiece;
  let fastest = 0;
  for (let piece = 1; piece <= pieces; piece++) {
    const people = await ours.people(count, true);
    const run = await underLoad(world, ours, { ...how, people, seconds: PIECE_SECONDS, warmUpSeconds: 0 });
    runs.push(run);
    fastest = Math.max(fastest, run.load.joins);
    count = Math.ceil(fastest * MARGIN) + how.concurrency;
    say(
      `${piece * PIECE_SECONDS} of ${pieces * PIECE_SECONDS} s: ${figure(run.joinsPerSecond)} joins/s, ${megabytes(run.rssBytes)}`,
    );
  }
  clearInterval(timer);
  return report(await describeMachine(database.client), samples, runs);
}

function report(machine: string, samples: readonly Sample[], runs: readonly Run[]): string {
  const end = samples.at(-1)!.seconds;
  // The first tenth is the start: the compiler and the pools fill up.
  const steady = samples.filter(({ seconds }) => seconds > end / 10);
  const half = (end + end / 10) / 2;
  const medianOf = (some: readonly Sample[]) => spreadOf(some.map(({ rssBytes }) => rssBytes)).median;
  const [first, second] = [
    medianOf(steady.filter(({ seconds }) => seconds <= half)),
    medianOf(steady.filter(({ seconds }) => seconds > half)),
  ];
  const growth = second / first - 1;
  const slope = slopeOf(steady.map(({ seconds, rssBytes }) => ({ x: seconds / 60, y: rssBytes / 1e6 })));
  const tenth = (part: number) =>
    samples.filter(({ seconds }) => seconds > (end * part) / 10 && seconds <= (end * (part + 1)) / 10);
  const sorted = samples.map(({ rssBytes }) => rssBytes).sort((a, b) => a - b);
  const joins = runs.reduce((sum, { load }) => sum + load.joins, 0);
  return [
    '## Soak',
    '',
    machine,
    '',
    verdictTable([
      {
        what: `memory in the second half of ${figure(end / 60)} minutes of full load, more than in the first`,
        target: `≤ ${MOST_GROWTH * 100} %`,
        measured: `${figure(growth * 100)} %`,
        isMet: growth <= MOST_GROWTH,
      },
    ]),
    '',
    `${Math.round(joins).toLocaleString('en')} joins up to their order by one process, ${how.concurrency} at a time, and behind them what is`,
    'told to HubSpot’s stand-in. Resident memory once a second: the line of least squares through all but the first tenth',
    `grows by ${figure(slope)} MB a minute; the most was ${megabytes(percentile(sorted, 1))}. Joins/s in the first piece ${figure(runs[0]!.joinsPerSecond)}, in the last`,
    `${figure(runs.at(-1)!.joinsPerSecond)}.`,
    '',
    table(
      ['minute', ...Array.from({ length: 10 }, (_, part) => figure(((part + 1) * end) / 600))],
      [
        [
          'memory, median',
          ...Array.from({ length: 10 }, (_, part) => {
            const some = tenth(part);
            return some.length === 0 ? '–' : megabytes(medianOf(some));
          }),
        ],
      ],
    ),
  ].join('\n');
}
