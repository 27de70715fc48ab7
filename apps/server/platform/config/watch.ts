import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { SettingReader } from './reader.ts';

/** The settings of metrics and telemetry, and the load above which calls are refused. */
export interface WatchSettings {
  /** The port on which /metrics is served, at the address HOST; null if it is not served. */
  metricsPort: number | null;
  /** The collector's URL for traces and logs (OTLP over HTTP); null if none are sent. */
  otlpEndpoint: string | null;
  /** The load at which new joins and uploads are refused. A limit of 0 is no limit. */
  shedding: SheddingLimits;
}

export interface SheddingLimits {
  /** Mean delay of the event loop (ms). */
  eventLoopDelayMs: number;
  heapBytes: number;
  rssBytes: number;
}

const MEBIBYTE = 1_048_576;

/**
 * Reads the settings of metrics, telemetry and load. `heapLimitBytes` is V8's heap limit. `memoryBytes` is the container's memory
 * limit; 0 if there is none. The default limits of memory use are 60 % of these.
 */
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
          // Calls of paying joiners are accepted up to 1.5 times this limit (90 % of the heap). The rest is left for the calls that
          // are already running.
          heapBytes: megabytes('SHED_HEAP_MB', Math.floor((0.6 * heapLimitBytes) / MEBIBYTE)),
          rssBytes: megabytes('SHED_RSS_MB', Math.floor((0.6 * memoryBytes) / MEBIBYTE)),
        }
      : { eventLoopDelayMs: 0, heapBytes: 0, rssBytes: 0 },
  };
}

/** Returns V8's heap limit and the container's memory limit (bytes). The container's limit is 0 if none is set. */
export function memoryOfProcess(): { heapLimitBytes: number; memoryBytes: number } {
  const most = process.constrainedMemory();
  return {
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    memoryBytes: most > 0 && most < totalmem() ? most : 0,
  };
}
