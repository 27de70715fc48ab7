import { useEffect, useRef } from 'react';
import { poll } from './poll.ts';

/**
 * While `isActive`, calls `ask` every `intervalMs` until it resolves with true. It is not called while the page is hidden. When
 * the page becomes visible again, it is called immediately. `signal` is aborted when the component is removed or no longer
 * active.
 */
export function usePoll(
  isActive: boolean,
  intervalMs: number,
  ask: (signal: AbortSignal) => Promise<boolean>,
): void {
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (!isActive) return;
    const ended = new AbortController();
    const { signal } = ended;
    void poll(
      async (tries) => tries > 0 && document.visibilityState === 'visible' && latest.current(signal),
      (isOver) => isOver,
      () => intervalMs,
      { signal, page: document },
    );
    return () => ended.abort();
  }, [isActive, intervalMs]);
}
