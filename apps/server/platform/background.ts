import { SpanStatusCode } from '@opentelemetry/api';
import type { Log } from '../deps.ts';
import { backgroundRounds } from './metrics.ts';
import { tracer } from './watchCall.ts';

/**
 * Repeats a task: first after `firstAfterMs`, then `intervalMs` after each end, or at once when it returns `true` (more is due).
 * Failures are logged and retried. Returns the function that stops it, which resolves when the current run has ended.
 */
export function repeat(
  name: string,
  intervalMs: number,
  log: Log,
  task: () => Promise<unknown>,
  { firstAfterMs = 0 }: { firstAfterMs?: number } = {},
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  const round = () => {
    running = (async () => {
      try {
        while (!stopped && (await watched(name, task)) === true);
      } catch (error) {
        log.error({ err: error, task: name }, 'a background task failed and will be tried again');
      }
      if (!stopped) timer = setTimeout(round, intervalMs);
    })();
  };
  if (firstAfterMs > 0) timer = setTimeout(round, firstAfterMs);
  else round();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}

/** Counts a round, and makes a span of it: one without any other span in it is not sent (telemetry.ts). */
export const ROUND = 'induct.round';
function watched<T>(task: string, work: () => Promise<T>): Promise<T> {
  return tracer().startActiveSpan(task, { attributes: { [ROUND]: true } }, async (span) => {
    try {
      const done = await work();
      backgroundRounds.inc({ task, result: 'ok' });
      return done;
    } catch (error) {
      backgroundRounds.inc({ task, result: 'failed' });
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
