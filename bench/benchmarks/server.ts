import { describeMachine } from '../accounting/machine.ts';
import { type Measured, measure, type Run } from '../accounting/measure.ts';
import { withoutProvider } from '../flows/flows.ts';
import { figure, megabytes } from '../report/table.ts';
import { type Subject, startFloor, startOurs } from '../servers.ts';
import { type Bench, startWorld, type World } from '../world.ts';

/** Two sides measured right after one another. */
interface Pair {
  floor: Run;
  ours: Run;
}

/** Complete joins under load, beside the floor and pgbench. */
export async function benchmarkServer(bench: Bench): Promise<string> {
  const world = await startWorld(bench);
  const floor = await startFloor(world);
  const ours = await startOurs(world, { database: 'ours' });
  await warmUp(world, [floor, ours]);

  const eight = new Map<number, Pair[]>();
  for (let round = 0; round < bench.options.repeat; round++)
    for (const concurrency of bench.options.concurrencies) {
      const how: Measured = { concurrency, steps: withoutProvider };
      const pair = { floor: await measure(world, floor, how), ours: await measure(world, ours, how) };
      eight.set(concurrency, [...(eight.get(concurrency) ?? []), pair]);
      bench.say(told(`${concurrency} at a time`, pair));
    }
  return [
    '## Server',
    '',
    await describeMachine(ours.database),
    '',
    ...[...eight].map(([concurrency, pairs]) => told(String(concurrency), pairs[0]!)),
  ].join('\n');
}

/** Both have compiled what they run often before anything counts. */
async function warmUp(world: World, subjects: readonly Subject[]): Promise<void> {
  for (const subject of subjects) await measure(world, subject, { concurrency: 16, steps: withoutProvider });
}

function told(what: string, { floor, ours }: Pair): string {
  const cpu = ({ cpuMs }: Run) => cpuMs.node + cpuMs.postgres;
  return [
    `${what}: ${figure(ours.joinsPerSecond)} of ${figure(floor.joinsPerSecond)} joins/s = ${figure(ours.joinsPerSecond / floor.joinsPerSecond)}`,
    `CPU ${figure(ours.cpuMs.node)} + ${figure(ours.cpuMs.postgres)} of ${figure(floor.cpuMs.node)} + ${figure(floor.cpuMs.postgres)} ms = ${figure(cpu(ours) / cpu(floor))}`,
    `call p99 ${figure(ours.load.call.p99)} of ${figure(floor.load.call.p99)} ms`,
    `memory ${megabytes(ours.rssBytes)} of ${megabytes(floor.rssBytes)}`,
    `generator ${figure(ours.cpuMs.generator)} and ${figure(floor.cpuMs.generator)} ms`,
    `others ${figure(ours.otherCores)} and ${figure(floor.otherCores)} cores`,
  ].join('; ');
}
