import { SpanStatusCode } from '@opentelemetry/api';
import type { Log } from './deps.ts';
import { backgroundRounds } from './metrics.ts';
import { tracer } from './watchCall.ts';

/**
 * Repeats a task. The first run starts after `firstAfterMs`. The next run starts `intervalMs` after the end of a run, or at once if
 * the task returned `true` (more work is due). A failed run is logged, and the task is retried after `intervalMs`. Returns a
 * function that stops the repetition and resolves when the current run has ended.
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
  // The counter must exist with the value 0 before the first failure. Otherwise Prometheus would not see that failure as an
  // increase.
  backgroundRounds.inc({ task: name, result: 'failed' }, 0);
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

/** The attribute that marks the trace span of one run of a task. telemetry.ts drops such a span if it contains no other span. */
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
