import { useEffect, useState } from 'react';

type Loaded<T> = { data?: T; error?: unknown };

/**
 * Loads what a part of a page shows once it is opened. `load` must stay the same as long as it loads the same. Neither `data` nor
 * `error`: it is being loaded.
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
