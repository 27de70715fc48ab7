/** Returns a function that calls `look` and reuses its result for `keptMs`. Concurrent callers share one call. */
export function kept<Found>(keptMs: number, look: () => Promise<Found>): () => Promise<Found> {
  let last: { found: Promise<Found>; until: number } | undefined;
  return () => {
    if (last && performance.now() < last.until) return last.found;
    const current = { found: look(), until: Number.POSITIVE_INFINITY };
    last = current;
    const done = () => {
      current.until = performance.now() + keptMs;
    };
    current.found.then(done, done);
    return current.found;
  };
}
