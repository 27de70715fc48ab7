import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'undici';
import { Browser, type Flow, ORDER_CALLS } from './flow.ts';
import { percentile } from './numbers.ts';

/** One call and how long it took (ms). */
export interface TimedCall {
  call: string;
  ms: number;
}

export interface Load {
  seconds: number;
  /** How many joins were made. A join still in progress at the end counts as the fraction that is done. */
  joins: number;
  /** The 99th percentile of the times of all calls (ms). */
  callP99: number;
}

/** Opens a browser with its own connection. `note` is called for each call that was answered. */
function openBrowser({ url }: Flow, note: (timed: TimedCall) => void) {
  const connection = new Client(url);
  const browser = () =>
    new Browser(connection, async (call, make) => {
      const began = performance.now();
      const answer = await make();
      note({ call, ms: performance.now() - began });
      return answer;
    });
  return { browser, close: () => connection.destroy() };
}

/**
 * A closed loop of joins, each from its start to its order. There are `concurrency` joiners, each with its own connection. Each
 * joiner makes one call after the other, and begins another join when one is over. `begins` is called after the warm-up, `ends`
 * when the measurement is over and the joiners are still running. Rejects when a join fails.
 */
export async function closedLoop(
  flow: Flow,
  nextPerson: () => number,
  { concurrency, warmUpMs, measureMs }: { concurrency: number; warmUpMs: number; measureMs: number },
  { begins = () => {}, ends = () => {} }: { begins?: () => void; ends?: () => void } = {},
): Promise<Load> {
  const times: number[] = [];
  let isMeasuring = false;
  let isOver = false;
  let failure: unknown;
  const joiner = async () => {
    const { browser, close } = openBrowser(flow, ({ ms }) => isMeasuring && times.push(ms));
    try {
      while (!isOver) await flow.order(browser(), nextPerson());
    } catch (error) {
      failure ??= error;
      isOver = true;
    }
    await close();
  };
  const joiners = Array.from({ length: concurrency }, joiner);
  await pause(warmUpMs);
  isMeasuring = true;
  begins();
  const began = performance.now();
  await pause(failure ? 0 : measureMs);
  const seconds = (performance.now() - began) / 1000;
  isMeasuring = false;
  isOver = true;
  ends();
  await Promise.all(joiners);
  if (failure) throw failure;
  times.sort((a, b) => a - b);
  return { seconds, joins: times.length / ORDER_CALLS, callP99: percentile(times, 0.99) };
}

/**
 * An open loop of joins: `count` joins begin at even intervals, `perSecond` in a second, whether or not earlier joins are over.
 * Each join has its own connection. Resolves when all joins are over, with every call that was answered, how long each join took
 * (ms), and why joins failed.
 */
export async function openLoop(
  flow: Flow,
  nextPerson: () => number,
  { count, perSecond, paying }: { count: number; perSecond: number; paying: boolean },
  signal?: AbortSignal,
): Promise<{ calls: TimedCall[]; joins: number[]; failures: string[] }> {
  const calls: TimedCall[] = [];
  const joins: number[] = [];
  const failures: string[] = [];
  const join = async () => {
    const began = performance.now();
    const { browser, close } = openBrowser(flow, (timed) => calls.push(timed));
    const [one, number] = [browser(), nextPerson()];
    try {
      const id = await flow.order(one, number);
      if (paying) await flow.pay(one, number, id);
      joins.push(performance.now() - began);
    } catch (error) {
      failures.push((error as Error).message);
    }
    await close();
  };
  const began = performance.now();
  const underWay: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const waitMs = began + (index * 1000) / perSecond - performance.now();
    if (waitMs > 0) await pause(waitMs, undefined, signal && { signal });
    underWay.push(join());
  }
  await Promise.all(underWay);
  return { calls, joins, failures };
}
