/**
 * Calls `ask` repeatedly until `isOver` accepts its answer. `delayMs` returns the delay after each try (counted from 0);
 * undefined ends the polling. Returns the last answer, even if the polling has ended or `signal` was aborted. With `page`,
 * polling continues immediately when a hidden page becomes visible again.
 */
export async function poll<T>(
  ask: (tries: number) => Promise<T>,
  isOver: (answer: T) => boolean,
  delayMs: (tries: number) => number | undefined,
  { signal, page }: { signal?: AbortSignal; page?: Document } = {},
): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = await ask(tries);
    const delay = delayMs(tries);
    if (isOver(answer) || delay === undefined || signal?.aborted) return answer;
    await pause(delay, signal, page);
    if (signal?.aborted) return answer;
  }
}

/** Waits until the delay (ms) has passed, `signal` is aborted, or `page` becomes visible again. */
function pause(delay: number, signal?: AbortSignal, page?: Document): Promise<void> {
  return new Promise((done) => {
    const ended = new AbortController();
    const end = () => {
      clearTimeout(timer);
      ended.abort();
      done();
    };
    const timer = setTimeout(end, delay);
    const listening = { signal: ended.signal };
    signal?.addEventListener('abort', end, listening);
    page?.addEventListener('visibilitychange', () => page.visibilityState === 'visible' && end(), listening);
  });
}
