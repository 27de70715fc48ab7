import { once } from 'node:events';
import { resolve } from 'node:path';
import type { AbuseFigures, AbuseJob } from '../abuser.ts';
import { compare } from '../compare.ts';
import { openLoop } from '../load.ts';
import { percentile, spreadOf } from '../numbers.ts';
import { atMost, figure, type Section, section, table } from '../report.ts';
import { makeOurDatabase, startOurs } from '../subjects.ts';
import { watchOthers } from '../usage.ts';
import { type Bench, startWorld } from '../world.ts';

const JOINS = 100;

/**
 * The benchmark `abuse`: times a hundred joins alone, then a hundred joins while strangers hold connections open, guess invite
 * codes and send requests that are too large.
 */
export async function benchmarkAbuse(bench: Bench): Promise<Section> {
  const { isQuick } = bench.options;
  const overMs = isQuick ? 5_000 : 20_000;
  const world = await startWorld(bench);
  const ours = await startOurs(world, await makeOurDatabase(world));
  const program = resolve(import.meta.dirname, '../abuser.ts');
  const { process: strangers } = await world.scope.start(program);
  const job: AbuseJob = {
    url: ours.induct.url,
    ...(isQuick
      ? { connections: 300, guesses: 1_000, addresses: 100, floods: 20 }
      : { connections: 10_000, guesses: 100_000, addresses: 10_000, floods: 500 }),
    limitMs: 180_000,
  };
  const told = async <Message>() => {
    const [message] = await once(strangers, 'message', { signal: world.scope.signal });
    if (typeof message === 'string' && message !== 'under way') throw new Error(message);
    return message as Message;
  };
  const figures: AbuseFigures[] = [];
  let failed = 0;
  const join = async () => {
    const others = watchOthers();
    const arrivals = { count: JOINS, perSecond: (JOINS * 1000) / overMs, paying: false };
    const { calls, joins, failures } = await openLoop(ours.flow, await ours.people(JOINS), arrivals);
    failed += failures.length;
    for (const reason of new Set(failures)) world.say(`a join failed: ${reason}`);
    const call = calls.map(({ ms }) => ms).sort((a, b) => a - b);
    return { join: joins.sort((a, b) => a - b), call, otherCores: others() };
  };
  const abused = async () => {
    strangers.send(job);
    await told();
    const ended = told<AbuseFigures>();
    const [sample, abuse] = await Promise.all([join(), ended]);
    figures.push(abuse);
    return sample;
  };
  const compared = await compare(world, {
    title: 'joins, ms',
    ours: abused,
    other: join,
    names: ['joins alone', 'beside abuse'],
    metrics: {
      'a join, p95': ({ join }) => percentile(join, 0.95),
      'a join, p50': ({ join }) => percentile(join, 0.5),
      'a call, p95': ({ call }) => percentile(call, 0.95),
      'a call, longest': ({ call }) => call.at(-1)!,
    },
    rounds: 1,
  });
  const statuses = (counts: Record<number, number>) =>
    Object.entries(counts)
      .map(([status, count]) => `${status === '0' ? 'closed' : status}: ${count}`)
      .join(', ');
  const last = figures.at(-1)!;
  return section(
    'Abuse',
    [
      atMost('joins that failed beside abuse or alone', 0, spreadOf([failed])),
      atMost('p95 of a join beside abuse, times that without', 2, compared.ratio('a join, p95')),
    ],
    `${JOINS} joins in ${overMs / 1000} s, alone and beside ${last.connections} held connections, ${job.guesses} guessed codes from ${job.addresses} addresses, ${job.floods} bodies of 2 MB and as many headers of 100 kB.`,
    table(
      ['strangers', ''],
      [
        ['connections held at once', String(last.connections)],
        ['guesses in a second', figure(last.guessesPerSecond)],
        ['guesses by answer', statuses(last.guesses)],
        ['too large, by answer', statuses(last.floods)],
      ],
    ),
    compared.report,
  );
}
