/** The longest time (ms) that the page waits for an answer or a script. The server itself takes less for any call. */
export const PATIENCE_MS = 60_000;

/** Thrown when something took too long. */
export class Late extends Error {}

/**
 * Runs `work`, and throws {@link Late} if it takes longer than `ms`. `work` gets a signal that is aborted at that time, and when
 * `outer` is aborted.
 */
export async function within<T>(
  work: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal | undefined,
  ms: number = PATIENCE_MS,
): Promise<T> {
  const ended = new AbortController();
  const stop = () => ended.abort();
  if (outer?.aborted) stop();
  outer?.addEventListener('abort', stop);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Late());
      stop();
    }, ms);
  });
  try {
    return await Promise.race([work(ended.signal), late]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', stop);
  }
}
