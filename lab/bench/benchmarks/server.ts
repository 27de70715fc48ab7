import { join } from 'node:path';
import { compare } from '../compare.ts';
import { ORDER_CALLS } from '../flow.ts';
import { startServer, startSurroundings } from '../induct.ts';
import { measure, runMetrics } from '../measure.ts';
import { spreadOf } from '../numbers.ts';
import { atLeast, atMost, figure, type Section, section, table, type Verdict } from '../report.ts';
import { type CallCount, countCalls } from '../statements.ts';
import { makeOurDatabase, startFloor, startOurs } from '../subjects.ts';
import { type Bench, createDatabase, startWorld, type World, within } from '../world.ts';

/**
 * Compares two servers, Induct's and a minimal one (floor/server.ts), by the eight calls of a join that need no provider. Also
 * counts the statements of all ten calls of a join, and times the start of Induct's server.
 */
export async function benchmarkServer(bench: Bench): Promise<Section> {
  const counts = await within(bench, countOnBoth);
  const world = await startWorld(bench);
  const starts = await within(world, timeStarts);
  const floor = await startFloor(world.scope, await createDatabase(world));
  const subject = await startOurs(world, await makeOurDatabase(world));
  const compareAt = (concurrency: number) =>
    compare(world, {
      title: `${concurrency} joins at a time`,
      ours: () => measure(world, subject, concurrency),
      other: () => measure(world, floor, concurrency),
      names: ['floor', 'Induct'],
      metrics: runMetrics,
    });
  const at16 = await compareAt(16);
  const at64 = await compareAt(64);
  return section(
    'Server',
    [
      atLeast('joins/s at 16, of the floor’s', 0.33, at16.ratio('joins/s')),
      atLeast('joins/s at 64, of the floor’s', 0.33, at64.ratio('joins/s')),
      atMost('CPU a join at 16, times the floor’s', 3.2, at16.ratio('CPU ms a join')),
      atMost('memory at 64, times the floor’s', 1.8, at64.ratio('memory, MB')),
      ...countVerdicts(counts.ours),
      atMost('the server process alone, to its first answer (ms)', 1000, spreadOf(starts)),
    ],
    'The eight calls of a join that ask no provider, by 16 and by 64 joiners in a closed loop, beside `floor/server.ts`.',
    at16.report,
    at64.report,
    'What a join asks, call by call; statements with BEGIN and COMMIT:',
    table(
      ['call', 'statements: floor', 'Induct', 'requests to Stripe'],
      counts.ours.map(({ call, statements, stripe }) => {
        const bare = counts.floor.find((count) => count.call === call);
        return [call, bare ? figure(bare.statements) : '', figure(statements), figure(stripe)];
      }),
    ),
  );
}

/**
 * Counts the statements of both servers. For this it starts separate servers and a separate PostgreSQL, since counting would slow
 * down the servers that are timed.
 */
async function countOnBoth(bench: Bench): Promise<Record<'floor' | 'ours', CallCount[]>> {
  const world = await startWorld(bench, {
    shared_preload_libraries: 'pg_stat_statements',
    'pg_stat_statements.track': 'top',
  });
  const ours = await startOurs(world, await makeOurDatabase(world), { known: 200 });
  return {
    floor: await countCalls(await startFloor(world.scope, await createDatabase(world))),
    ours: await countCalls(ours, ours.induct),
  };
}

/**
 * Times the server's process from its start to its first answer (ms), while the stand-ins are running and the files are in the
 * system's cache.
 */
async function timeStarts(world: World): Promise<number[]> {
  const { url: databaseUrl } = await createDatabase(world);
  const around = await startSurroundings(world.scope, { databaseUrl, folder: join(world.folder, 'start') });
  const times: number[] = [];
  for (let round = 0; round <= world.options.repeat; round++)
    await within(world, async ({ scope }) => {
      const began = performance.now();
      const { ready } = await startServer(scope, around);
      const page = await fetch(ready.listening);
      await page.text();
      if (!page.ok) throw new Error(`The first answer was ${page.status}.`);
      if (round > 0) times.push(performance.now() - began);
    });
  return times;
}

function countVerdicts(counts: readonly CallCount[]): Verdict[] {
  const stripeOf = (name: string) => spreadOf([counts.find(({ call }) => call === name)!.stripe]);
  const ten = counts.filter(({ call }) => call !== 'beginPayment');
  const sum = ten.reduce((total, { statements }) => total + statements, 0);
  const most = Math.max(...counts.slice(0, ORDER_CALLS).map(({ statements }) => statements));
  return [
    atMost('statements of a join’s ten calls', 26, spreadOf([sum])),
    atMost('statements of a call that asks no provider', 2, spreadOf([most])),
    atMost('requests to Stripe when opening Checkout', 1, stripeOf('createPaymentIntent')),
    atMost('requests to Stripe when coming back from paying', 1, stripeOf('postPayment')),
  ];
}
