import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { compare } from '../compare.ts';
import { contactIdOf } from '../flow.ts';
import type { HostileJob } from '../hostileUploads.ts';
import { openLoop } from '../load.ts';
import { percentile } from '../numbers.ts';
import { atMost, type Section, section } from '../report.ts';
import { makeOurDatabase, startOurs } from '../subjects.ts';
import { watchOthers } from '../usage.ts';
import { type Bench, startWorld } from '../world.ts';

const COUNT = 100;
const OVER_MS = 5_000;

/**
 * The benchmark `strangers`: times a hundred joins alone, then a hundred joins during which a hundred documents that are
 * expensive to inspect are uploaded, which joiners must not notice. For comparison, the documents also go to a server that does
 * not inspect them (floor/multipart.ts).
 */
export async function benchmarkStrangers(bench: Bench): Promise<Section> {
  const world = await startWorld(bench);
  const ours = await startOurs(world, await makeOurDatabase(world), { settings: { LIMITS: 'off' } });
  const programOf = (path: string) => resolve(import.meta.dirname, '..', path);
  const { process: strangers } = await world.scope.start(programOf('hostileUploads.ts'));
  const floor = await world.scope.start<{ listening: string }>(programOf('floor/multipart.ts'), {
    args: [join(world.folder, 'floor')],
  });
  const targets = {
    ours: { url: `${ours.induct.url}/api/public/upload-resume`, status: 415 },
    floor: { url: `${floor.ready.listening}/upload`, status: 200 },
  };
  const joinAll = async () => {
    const arrivals = { count: COUNT, perSecond: (COUNT * 1000) / OVER_MS, paying: false };
    const { calls, joins, failures } = await openLoop(ours.flow, await ours.people(COUNT), arrivals);
    if (failures.length > 0) throw new Error(failures[0]);
    const call = calls.map(({ ms }) => ms).sort((a, b) => a - b);
    return { join: joins.sort((a, b) => a - b), call };
  };
  const upload = async (to: keyof typeof targets, count = COUNT) => {
    const job: HostileJob = { ...targets[to], contactId: contactIdOf(0), count, overMs: OVER_MS };
    strangers.send(job);
    const [failure] = (await once(strangers, 'message', { signal: world.scope.signal })) as [string];
    if (failure) throw new Error(failure);
  };
  /** Runs `work`, and measures how much CPU other programs used meanwhile (cores). */
  const watched = async (work: () => ReturnType<typeof joinAll>) => {
    const others = watchOthers();
    return { ...(await work()), otherCores: others() };
  };
  // Warms up: at the first upload, the server asks HubSpot for the contact. The measured uploads need no request to HubSpot.
  await upload('ours', 1);
  const metrics: Record<string, (sample: Awaited<ReturnType<typeof joinAll>>) => number> = {
    'a join, p95': ({ join }) => percentile(join, 0.95),
    'a join, p50': ({ join }) => percentile(join, 0.5),
    'a call, p95': ({ call }) => percentile(call, 0.95),
    'a call, p50': ({ call }) => percentile(call, 0.5),
    'a call, longest': ({ call }) => call.at(-1)!,
  };
  const beside = (to: keyof typeof targets) => () =>
    watched(async () => (await Promise.all([joinAll(), upload(to)]))[0]);
  const alone = await compare(world, {
    title: 'joins, ms',
    ours: beside('ours'),
    other: () => watched(joinAll),
    names: ['alone', 'beside uploads to Induct'],
    metrics,
  });
  const floored = await compare(world, {
    title: 'joins, ms',
    ours: beside('ours'),
    other: beside('floor'),
    names: ['beside uploads to the floor', 'beside uploads to Induct'],
    metrics,
  });
  return section(
    'Strangers',
    [
      atMost(
        `p95 of a join beside ${COUNT} hostile uploads, times that without`,
        1.5,
        alone.ratio('a join, p95'),
      ),
    ],
    `A hundred joins in ${OVER_MS / 1000} s, alone and beside ${COUNT} documents made to be costly; all are refused.`,
    alone.report,
    'What the machine itself spends on sending and receiving them: the same uploads to another process, which streams each to disk and looks at none.',
    floored.report,
  );
}
