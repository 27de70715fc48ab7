import { once } from 'node:events';
import { resolve } from 'node:path';
import { watchOthers } from '../../../tests/harness/usage.ts';
import { compare } from '../compare.ts';
import { contactIdOf } from '../flow.ts';
import type { HostileJob } from '../hostileUploads.ts';
import { openLoop } from '../load.ts';
import { percentile } from '../numbers.ts';
import { atMost, section } from '../report.ts';
import { makeOurDatabase, startOurs } from '../subjects.ts';
import { type Bench, startWorld } from '../world.ts';

const COUNT = 100;
const OVER_MS = 5_000;

/** A hundred joins, alone and beside a hundred documents that are made to cost much: whoever joins must not feel them. */
export async function benchmarkStrangers(bench: Bench): Promise<string> {
  const world = await startWorld(bench);
  const ours = await startOurs(world, await makeOurDatabase(world), { settings: { LIMITS: 'off' } });
  const program = resolve(import.meta.dirname, '../hostileUploads.ts');
  const { process: strangers } = await world.scope.start(program);
  const join = async () => {
    const arrivals = { count: COUNT, perSecond: (COUNT * 1000) / OVER_MS, paying: false };
    const { calls, joins, failures } = await openLoop(ours.flow, await ours.people(COUNT), arrivals);
    if (failures.length > 0) throw new Error(failures[0]);
    const call = calls.map(({ ms }) => ms).sort((a, b) => a - b);
    return { join: joins.sort((a, b) => a - b), call };
  };
  const upload = async (count = COUNT) => {
    const job: HostileJob = {
      url: `${ours.induct.url}/api/public/upload-resume`,
      contactId: contactIdOf(0),
      count,
      overMs: OVER_MS,
    };
    strangers.send(job);
    const [failure] = (await once(strangers, 'message', { signal: world.scope.signal })) as [string];
    if (failure) throw new Error(failure);
  };
  /** With what other programs used meanwhile. */
  const watched = async (work: () => ReturnType<typeof join>) => {
    const others = watchOthers();
    return { ...(await work()), otherCores: others() };
  };
  // HubSpot is asked once whose resumes these are.
  await upload(1);
  const { ratio, report } = await compare(world, {
    title: 'joins, ms',
    ours: () => watched(async () => (await Promise.all([join(), upload()]))[0]),
    other: () => watched(join),
    names: ['joins alone', 'beside uploads'],
    metrics: {
      'a join, p95': ({ join }) => percentile(join, 0.95),
      'a join, p50': ({ join }) => percentile(join, 0.5),
      'a call, p95': ({ call }) => percentile(call, 0.95),
      'a call, p50': ({ call }) => percentile(call, 0.5),
      'a call, longest': ({ call }) => call.at(-1)!,
    },
  });
  return section(
    'Strangers',
    [atMost(`p95 of a join beside ${COUNT} hostile uploads, times that without`, 1.5, ratio('a join, p95'))],
    `Both come evenly over ${OVER_MS / 1000} s. The uploads: a JPEG of 19,000 scans, a Word document whose directory is a ring, one of 19,000 parts, one of as many parts as are inspected with a broken one at its end, and one that unpacks to 100 MB. All are refused; limits by address are off. The process that sends them has the lowest priority, since strangers’ machines are not ours.`,
    report,
  );
}
