import { useEffect, useState } from 'react';

type Loaded<T> = { data?: T; error?: unknown };

/**
 * Loads the data of a part of a page when this part is opened. `load` must be the same function as long as it loads the same
 * data. While loading, there is neither `data` nor `error`.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>) {
  const [tries, setTries] = useState(0);
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try loads again
  useEffect(() => {
    const ended = new AbortController();
    load(ended.signal).then(
      (data) => ended.signal.aborted || setLoaded({ data }),
      (error: unknown) => ended.signal.aborted || setLoaded({ error }),
    );
    return () => ended.abort();
  }, [load, tries]);
  return {
    ...loaded,
    tryAgain() {
      setLoaded({});
      setTries(tries + 1);
    },
  };
}
