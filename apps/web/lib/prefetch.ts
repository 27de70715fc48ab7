import { useEffect } from 'react';

/**
 * Downloads code that is likely to be needed next. Failures are ignored, since the code is imported again when it is needed. Does
 * nothing when the browser asks to save data.
 */
export function prefetch(...imports: (() => Promise<unknown>)[]): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  for (const load of imports) load().catch(() => {});
}

/** Prefetches when the browser is idle. `load` must be the same function at every render. */
export function usePrefetch(load: () => Promise<unknown>): void {
  useEffect(() => {
    // Safari has no idle callback.
    if (typeof requestIdleCallback !== 'function') return prefetch(load);
    const handle = requestIdleCallback(() => prefetch(load));
    return () => cancelIdleCallback(handle);
  }, [load]);
}
