import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { SettingReader } from './reader.ts';

/** How the process is watched, and when it sheds load. */
export interface WatchSettings {
  /** Where /metrics is served, on HOST; null for nowhere. */
  metricsPort: number | null;
  /** Where traces and logs go by OTLP over HTTP; null for nowhere. */
  otlpEndpoint: string | null;
  /** From these on new joins and uploads are refused; 0 for no limit. */
  shedding: SheddingLimits;
}

export interface SheddingLimits {
  /** Mean delay of the event loop (ms). */
  eventLoopDelayMs: number;
  heapBytes: number;
  rssBytes: number;
}

const MEBIBYTE = 1_048_576;

/** Reads them by the readers of config.ts, which note what is wrong. `heapLimitBytes` is V8's own limit, `memoryBytes` what the process may have at all, or 0. */
export function readWatchSettings(
  { integer, address }: SettingReader,
  {
    isLimited,
    heapLimitBytes,
    memoryBytes,
  }: { isLimited: boolean; heapLimitBytes: number; memoryBytes: number },
): WatchSettings {
  const metricsPort = integer('METRICS_PORT', -1, 0, 65_535);
  const megabytes = (name: string, fallback: number) => integer(name, fallback, 0, 1_048_576) * MEBIBYTE;
  return {
    metricsPort: metricsPort < 0 ? null : metricsPort,
    otlpEndpoint: address('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']) ?? null,
    shedding: isLimited
      ? {
          eventLoopDelayMs: integer('SHED_EVENT_LOOP_DELAY_MS', 250, 0, 60_000),
          // Paying joins may take half as much again, and there is room above that for what is under way.
          heapBytes: megabytes('SHED_HEAP_MB', Math.floor((0.6 * heapLimitBytes) / MEBIBYTE)),
          rssBytes: megabytes('SHED_RSS_MB', Math.floor((0.6 * memoryBytes) / MEBIBYTE)),
        }
      : { eventLoopDelayMs: 0, heapBytes: 0, rssBytes: 0 },
  };
}

/** V8's own limit of this process; and that of its container, 0 where nobody set one (bytes). */
export function memoryOfProcess(): { heapLimitBytes: number; memoryBytes: number } {
  const most = process.constrainedMemory();
  return {
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    memoryBytes: most > 0 && most < totalmem() ? most : 0,
  };
}
