import { useEffect, useState } from 'react';

/** After this time (ms) a page shows that something is taking long. */
export const SLOW_MS = 8_000;

/** Returns whether `isWaiting` has been true for longer than {@link SLOW_MS}. */
export function useSlow(isWaiting: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [isWaiting]);
  return isSlow && isWaiting;
}
