import type { Log } from '../deps.ts';

/**
 * Runs a task again and again, `intervalMs` after it last ended, and at once while it answers `true`: there is more; the first time
 * after `firstAfterMs`. A failure is logged and tried again. Returns how to stop: a round under way is finished first.
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
        while (!stopped && (await task()) === true);
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
