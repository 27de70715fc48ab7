import { percentile } from '../accounting/numbers.ts';
import { Browser, type Join } from '../flows/flow.ts';
import { seenFrom, stepsOf } from '../flows/flows.ts';
import { Connection } from './connection.ts';
import type { Job, Latency, Load } from './load.ts';

/**
 * The load generator as a process of its own, so that its processor time can be told from the servers'. Its parent sends
 * a {@link Job} and gets `measuring` when the warm-up is over, then a {@link Load}.
 */
process.on('message', (job: Job) => {
  run(job).then(
    (load) => process.send!({ load }),
    (error: Error) => process.send!({ failed: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
process.send!('ready');

/** Every joiner does one call after the other on a connection of their own, and begins another join when one is done. */
async function run(job: Job): Promise<Load> {
  const steps = stepsOf(job.flow).filter(({ name }) => job.steps.includes(name));
  const joinTimes: number[] = [];
  const callTimes = new Map(steps.map(({ name }) => [name, [] as number[]]));
  let next = job.people.first;
  let isMeasuring = false;
  let isOver = false;

  const joiner = async (index: number) => {
    const connection = new Connection(job.urls[index % job.urls.length]!);
    while (!isOver) {
      const number = next++;
      if (number > job.people.last) throw new Error('The load generator ran out of people to join.');
      const join: Join = {
        number,
        browser: new Browser(connection, seenFrom(job.flow, number)),
        id: '',
        intent: undefined,
      };
      const began = performance.now();
      for (const step of steps) {
        const asked = performance.now();
        await step.run(join);
        if (isOver) break;
        if (isMeasuring) callTimes.get(step.name)!.push(performance.now() - asked);
      }
      if (isMeasuring && !isOver) joinTimes.push(performance.now() - began);
    }
    connection.close();
  };

  const joiners = Promise.all(Array.from({ length: job.concurrency }, (_, index) => joiner(index)));
  const untilOver = async (ms: number) => {
    let timer: NodeJS.Timeout | undefined;
    // A joiner that fails ends the measurement at once.
    await Promise.race([joiners, new Promise((done) => (timer = setTimeout(done, ms)))]);
    clearTimeout(timer);
  };
  try {
    await untilOver(job.warmUpMs);
    isMeasuring = true;
    process.send!('measuring');
    const began = performance.now();
    await untilOver(job.measureMs);
    const seconds = (performance.now() - began) / 1000;
    isOver = true;
    process.send!('measured');
    await joiners;
    return summary(seconds, joinTimes, callTimes);
  } finally {
    isOver = true;
  }
}

function summary(seconds: number, joinTimes: number[], callTimes: Map<string, number[]>): Load {
  const calls = [...callTimes.values()].reduce((sum, times) => sum + times.length, 0);
  return {
    seconds,
    // By calls, so that a join which was cut off at the end counts for what was done of it.
    joins: calls / callTimes.size,
    join: latencyOf(joinTimes),
    call: latencyOf([...callTimes].filter(([name]) => name !== 'card').flatMap(([, times]) => times)),
    calls: Object.fromEntries([...callTimes].map(([name, times]) => [name, latencyOf(times)])),
  };
}

function latencyOf(times: number[]): Latency {
  times.sort((a, b) => a - b);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
