/**
 * Asks again and again, with these delays (ms) in between, until `isOver` accepts an answer. Returns the last answer, also when the
 * delays are used up or `signal` is aborted. A page that is shown again asks at once.
 */
export async function poll<T>(
  ask: (tries: number) => Promise<T>,
  isOver: (answer: T) => boolean,
  delaysMs: readonly number[],
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = await ask(tries);
    const delay = delaysMs[tries];
    if (isOver(answer) || delay === undefined || signal?.aborted) return answer;
    await pause(delay);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      globalThis.document?.removeEventListener('visibilitychange', end);
      done();
    };
    const timer = setTimeout(end, ms);
    globalThis.document?.addEventListener('visibilitychange', end);
  });
}
