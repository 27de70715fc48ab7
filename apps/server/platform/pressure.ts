import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { SheddingLimits } from './config/watch.ts';

/** The interval of the measurements (ms). */
const SAMPLE_MS = 500;
/** The resolution of the measured event loop delay (ms). */
const RESOLUTION_MS = 10;

export interface Measured {
  /** The mean delay of the event loop (ms): the lowest of the last three samples, so that a single busy moment is ignored. */
  eventLoopDelayMs: number;
  heapBytes: number;
  rssBytes: number;
}

/** Measures the load of this process until `end` is called. `now` returns the latest measurement. */
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
 * Returns the load as a multiple of the limits: the highest of the three ratios. A limit of 0 is ignored. At 1 or more, the process
 * is overloaded.
 */
export function levelOf(measured: Measured, limits: SheddingLimits): number {
  const part = (name: keyof Measured) => (limits[name] > 0 ? measured[name] / limits[name] : 0);
  return Math.max(part('eventLoopDelayMs'), part('heapBytes'), part('rssBytes'));
}
