import { startTransition, useEffect, useState } from 'react';

/**
 * What a loader gave or promised; undefined until it is there, and what was there before while it is asked for again.
 * Throws what the promise was broken with. Suspense would do the same, but it holds back what has arrived until its
 * placeholder was seen for 300 ms.
 */
export function useArrived<Value>(given: Value | Promise<Value>): Value | undefined {
  const [arrived, setArrived] = useState<{ value: Value } | { error: unknown } | null>(null);
  useEffect(() => {
    if (!(given instanceof Promise)) return setArrived({ value: given });
    let isWanted = true;
    // As a transition: a long screen is drawn in pieces, between which the page can answer a touch.
    const take = (what: typeof arrived) =>
      startTransition(() => {
        if (isWanted) setArrived(what);
      });
    given.then(
      (value) => take({ value }),
      (error: unknown) => take({ error }),
    );
    return () => {
      isWanted = false;
    };
  }, [given]);
  if (!(given instanceof Promise)) return given;
  if (arrived && 'error' in arrived) throw arrived.error;
  return arrived?.value;
}
