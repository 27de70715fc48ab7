import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { SettingReader } from './reader.ts';

/** How the process is monitored, and when it sheds load. */
export interface WatchSettings {
  /** The port of HOST on which /metrics is served; null if it is not. */
  metricsPort: number | null;
  /** The address to which traces and logs are sent by OTLP over HTTP; null if they are not. */
  otlpEndpoint: string | null;
  /** The load from which new joins and uploads are refused; 0 means no limit. */
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
 * Reads the settings and collects faults. `heapLimitBytes` is V8's own limit; `memoryBytes` is the container's memory limit, or 0.
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
          // Calls of paying joiners are accepted up to 1.5 times this limit. The rest of the heap is for calls already running.
          heapBytes: megabytes('SHED_HEAP_MB', Math.floor((0.6 * heapLimitBytes) / MEBIBYTE)),
          rssBytes: megabytes('SHED_RSS_MB', Math.floor((0.6 * memoryBytes) / MEBIBYTE)),
        }
      : { eventLoopDelayMs: 0, heapBytes: 0, rssBytes: 0 },
  };
}

/** Returns V8's heap limit and the container's memory limit (bytes); the latter is 0 if none is set. */
export function memoryOfProcess(): { heapLimitBytes: number; memoryBytes: number } {
  const most = process.constrainedMemory();
  return {
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    memoryBytes: most > 0 && most < totalmem() ? most : 0,
  };
}
