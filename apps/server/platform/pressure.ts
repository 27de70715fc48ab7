import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { SheddingLimits } from './config/watch.ts';

/** How often the process is measured (ms). */
const SAMPLE_MS = 500;
/** The resolution with which the delay of the event loop is measured (ms). */
const RESOLUTION_MS = 10;

/** The load of a process. */
export interface Measured {
  /**
   * Mean delay of the event loop (ms): the lowest of the last three samples, so that one busy moment, as at a start, is ignored.
   */
  eventLoopDelayMs: number;
  heapBytes: number;
  rssBytes: number;
}

/** Measures this process until `end` is called. `now` returns the last measurement. */
export function measureProcess(): { now(): Measured; end(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delays = [0, 0, 0];
  let memory = { heapBytes: 0, rssBytes: 0 };
  const timer = setInterval(() => {
    const mean = histogram.mean / 1e6 - RESOLUTION_MS;
    histogram.reset();
    delays = [delays[1]!, delays[2]!, Number.isNaN(mean) ? SAMPLE_MS : Math.max(0, mean)];
    const { heapUsed, rss } = process.memoryUsage();
    memory = { heapBytes: heapUsed, rssBytes: rss };
  }, SAMPLE_MS).unref();
  return {
    now: () => ({ eventLoopDelayMs: Math.min(...delays), ...memory }),
    end() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}

/**
 * Returns the highest of delay, heap and memory, each as a fraction of its limit (a limit of 0 is ignored). At 1 or more the
 * process is overloaded.
 */
export function levelOf(measured: Measured, limits: SheddingLimits): number {
  const part = (name: keyof Measured) => (limits[name] > 0 ? measured[name] / limits[name] : 0);
  return Math.max(part('eventLoopDelayMs'), part('heapBytes'), part('rssBytes'));
}
