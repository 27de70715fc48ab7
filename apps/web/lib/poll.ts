/**
 * Asks again and again until `isOver` accepts an answer. `delayMs` returns the delay after each try (counted from 0); undefined ends
 * the polling. Returns the last answer, also when the polling has ended or `signal` is aborted. With `page`, a page that is shown
 * again asks at once.
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
    await new Promise<void>((done) => {
      const end = () => {
        clearTimeout(timer);
        page?.removeEventListener('visibilitychange', end);
        done();
      };
      const timer = setTimeout(end, delay);
      page?.addEventListener('visibilitychange', end);
    });
  }
}
