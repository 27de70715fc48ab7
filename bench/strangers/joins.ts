import { Browser, type Join } from '../flows/flow.ts';
import { type FlowSettings, seenFrom, stepsOf, withoutProvider } from '../flows/flows.ts';
import { Connection } from '../load/connection.ts';
import { answerJobs, paced } from './paced.ts';

export interface JoinsJob {
  flow: FlowSettings;
  url: string;
  first: number;
  count: number;
  overMs: number;
}

/** Joins that come one after the other, each on a connection of its own; how long each call took (ms). */
answerJobs<JoinsJob, number[]>(async ({ flow, url, first, count, overMs }) => {
  const steps = stepsOf(flow).filter(({ name }) => withoutProvider.includes(name));
  const times: number[] = [];
  await paced(count, overMs, async (index) => {
    const connection = new Connection(url);
    const number = first + index;
    const join: Join = {
      number,
      browser: new Browser(connection, seenFrom(flow, number)),
      id: '',
      intent: undefined,
    };
    for (const step of steps) {
      const asked = performance.now();
      await step.run(join);
      times.push(performance.now() - asked);
    }
    connection.close();
  });
  return times;
});
