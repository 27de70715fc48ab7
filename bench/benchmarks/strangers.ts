import { once } from 'node:events';
import { resolve } from 'node:path';
import { describeMachine } from '../accounting/machine.ts';
import { percentile } from '../accounting/numbers.ts';
import { machineBusySeconds, usageOf } from '../accounting/processTree.ts';
import { quietOnes, type Rounds, spreadBy, tellRounds } from '../accounting/rounds.ts';
import { contactIdOf } from '../flows/ours.ts';
import { figure, table } from '../report/table.ts';
import { atMost, verdictTable } from '../report/verdicts.ts';
import { makeOurDatabase, startOurs } from '../servers.ts';
import type { JoinsJob } from '../strangers/joins.ts';
import type { Told } from '../strangers/paced.ts';
import type { UploadsJob } from '../strangers/uploads.ts';
import { type Bench, startWorld, type World } from '../world.ts';

const COUNT = 100;
/** In which the hundred joins come, and the hundred uploads (ms). */
const OVER_MS = 5_000;

interface Round {
  alone: number[];
  beside: number[];
  uploads: number[];
  /** What programs that do not belong to it took of one core. */
  otherCores: number;
}

/** A hundred joins, alone and beside a hundred documents that are made to cost much: whoever joins must not feel them. */
export async function benchmarkStrangers(bench: Bench): Promise<string> {
  const { options, say } = bench;
  const world = await startWorld(bench);
  const database = await makeOurDatabase(world, 'ours');
  const ours = await startOurs(world, database, { known: 1, settings: { LIMITS: 'off' } });
  const joins = await startStrangers<JoinsJob>(world, 'joins.ts');
  const uploads = await startStrangers<UploadsJob>(world, 'uploads.ts');
  const [url] = ours.urls as [string];
  const join = async () => {
    const { first } = await ours.people(COUNT, false);
    return joins({ flow: ours.flow, url, first, count: COUNT, overMs: OVER_MS });
  };
  const upload = (count = COUNT) =>
    uploads({
      url: `${url}/api/public/upload-resume`,
      contactId: contactIdOf(1),
      count,
      overMs: OVER_MS,
    });
  // Whose resumes they are is asked of HubSpot once.
  await upload(1);
  // Until all that runs often is compiled.
  await Promise.all([join(), upload()]);
  const rounds: Round[] = [];
  for (let round = 1; round <= options.repeat; round++) {
    const others = () => machineBusySeconds() - usageOf(process.pid).cpuSeconds;
    const before = { others: others(), at: performance.now() };
    const alone = await join();
    const [beside, taken] = await Promise.all([join(), upload()]);
    const otherCores = ((others() - before.others) * 1000) / (performance.now() - before.at);
    rounds.push({ alone, beside, uploads: taken, otherCores });
    say(
      `round ${round}: p95 of a call ${figure(p95(beside))} ms beside uploads, ${figure(p95(alone))} ms alone; an upload ${figure(p95(taken))} ms; others ${figure(otherCores)} cores`,
    );
  }
  return report(
    await describeMachine(database.client),
    quietOnes(rounds, ({ otherCores }) => [otherCores]),
  );
}

async function startStrangers<Job>(world: World, file: string): Promise<(job: Job) => Promise<number[]>> {
  const program = resolve(import.meta.dirname, '../strangers', file);
  const { process: child, ended } = await world.scope.start(program, {});
  return async (job) => {
    const answered = once(child, 'message') as Promise<[Told<number[]>]>;
    child.send(job as object);
    const [told] = await Promise.race([
      answered,
      ended.then((reason) => {
        throw new Error(`The strangers of ${file} ended (${reason}).`);
      }),
    ]);
    if ('failed' in told) throw new Error(told.failed);
    return told.result;
  };
}

function p95(times: readonly number[]): number {
  return percentile(
    [...times].sort((a, b) => a - b),
    0.95,
  );
}

function report(machine: string, rounds: Rounds<Round>): string {
  const ratio = spreadBy(rounds, ({ alone, beside }) => p95(beside) / p95(alone));
  const row = (name: string, of: (round: Round) => readonly number[]) => {
    const share = (part: number) => (round: Round) =>
      percentile(
        [...of(round)].sort((one, other) => one - other),
        part,
      );
    const median = (part: number) => figure(spreadBy(rounds, share(part)).median);
    return [name, median(0.5), median(0.95), figure(Math.max(...rounds.kept.flatMap(of)))];
  };
  return [
    '## Strangers',
    '',
    machine,
    '',
    verdictTable([
      atMost(
        `p95 of a call of ${COUNT} joins beside ${COUNT} hostile uploads, times that without`,
        1.5,
        ratio,
      ),
    ]),
    '',
    `Both come evenly over ${OVER_MS / 1000} s. The uploads: a JPEG of 19,000 scans, a Word document whose directory is a ring, one of`,
    '19,000 parts, one of as many parts as are looked at with a broken one at its end, and one that unpacks to 100 MB, which',
    'is more than it says. All are refused; limits by address are off.',
    tellRounds([rounds]),
    '',
    table(
      ['ms', 'p50', 'p95', 'most'],
      [
        row('call, joins alone', ({ alone }) => alone),
        row('call, beside uploads', ({ beside }) => beside),
        row('upload, up to its answer', ({ uploads }) => uploads),
      ],
    ),
  ].join('\n');
}
