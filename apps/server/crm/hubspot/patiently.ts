import { setTimeout as pause } from 'node:timers/promises';
import { CrmDenied, CrmUnavailable } from './errors.ts';

/**
 * Makes a call to HubSpot, and retries it for at most `forMs` ms while HubSpot is unavailable. Does not retry a call that HubSpot
 * denies. If `when` is `limited`, retries only after an error that says how long to wait, as at a rate limit. `leftMs` is what is
 * left of `forMs`. Throws the error of the last call.
 */
export async function patiently<T>(
  call: (leftMs: number) => Promise<T>,
  forMs: number,
  when: 'limited' | 'unavailable' = 'unavailable',
): Promise<T> {
  const end = performance.now() + forMs;
  for (;;) {
    try {
      return await call(Math.max(1, Math.ceil(end - performance.now())));
    } catch (error) {
      if (!(error instanceof CrmUnavailable) || error instanceof CrmDenied) throw error;
      if (when === 'limited' && error.retryAfterMs === 0) throw error;
      const waitMs = Math.max(error.retryAfterMs, 100) * (1 + Math.random() / 4);
      if (performance.now() + waitMs >= end) throw error;
      await pause(waitMs);
    }
  }
}
