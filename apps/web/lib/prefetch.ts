import { useEffect } from 'react';

/**
 * Downloads code that will probably be needed next. A failure is ignored, because the code is imported again when it is needed.
 * Does nothing when the browser is set to save data.
 */
export function prefetch(...imports: (() => Promise<unknown>)[]): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  for (const load of imports) load().catch(() => {});
}

/** Prefetches when the browser is idle. `load` must be the same function at every render. */
export function usePrefetch(load: () => Promise<unknown>): void {
  useEffect(() => {
    // Safari does not have requestIdleCallback.
    if (typeof requestIdleCallback !== 'function') return prefetch(load);
    const handle = requestIdleCallback(() => prefetch(load));
    return () => cancelIdleCallback(handle);
  }, [load]);
}
