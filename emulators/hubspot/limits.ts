import { randomUUID } from 'node:crypto';
import { CrmError } from './errors.ts';

/** How many calls the account may make (https://developers.hubspot.com/docs/guides/apps/api-usage/usage-details). */
export interface Limits {
  /** Calls other than search in any ten seconds. */
  tenSecondly: number;
  /** Searches in any second. */
  searchSecondly: number;
  /** All calls of a day, which ends at midnight (UTC here); no daily limit when absent. */
  daily?: number;
}

export const PUBLISHED_LIMITS: Limits = { tenSecondly: 100, searchSecondly: 4 };

/** Counts calls over rolling windows and per day, by the emulator's clock. */
export class RateLimit {
  readonly #limits: Limits | 'off';
  readonly #calls: number[] = [];
  readonly #searches: number[] = [];
  #today = { day: -1, calls: 0 };

  constructor(limits: Limits | 'off') {
    this.#limits = limits;
  }

  /** Counts a call at `now` (ms). Returns the rate limit headers for its answer, or throws the error 429. */
  count(isSearch: boolean, now: number): Record<string, string> {
    if (this.#limits === 'off') return {};
    const { tenSecondly, searchSecondly, daily } = this.#limits;
    const day = Math.floor(now / 86_400_000);
    if (this.#today.day !== day) this.#today = { day, calls: 0 };
    if (daily !== undefined && this.#today.calls >= daily) throw limited('DAILY', {});
    this.#today.calls += 1;
    if (isSearch) {
      take(this.#searches, searchSecondly, 1_000, now, 'SECONDLY', {});
      // Search answers carry no rate limit headers.
      return {};
    }
    const headers = {
      'x-hubspot-ratelimit-max': String(tenSecondly),
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
    };
    take(this.#calls, tenSecondly, 10_000, now, 'TEN_SECONDLY_ROLLING', headers);
    return { ...headers, 'x-hubspot-ratelimit-remaining': String(tenSecondly - this.#calls.length) };
  }
}

function take(
  calls: number[],
  most: number,
  window: number,
  now: number,
  policyName: string,
  headers: Record<string, string>,
): void {
  while (calls.length > 0 && calls[0]! <= now - window) calls.shift();
  if (calls.length < most) {
    calls.push(now);
    return;
  }
  throw limited(
    policyName,
    policyName === 'SECONDLY' ? headers : { ...headers, 'x-hubspot-ratelimit-remaining': '0' },
  );
}

/**
 * Returns the error for an exceeded rate limit (429). Like HubSpot's error, it names the limit that was exceeded. It has no
 * Retry-After header, because HubSpot does not promise one.
 */
function limited(policyName: string, headers: Record<string, string>): CrmError {
  return new CrmError(
    429,
    'RATE_LIMITS',
    `You have reached your ${policyName.toLowerCase()} limit.`,
    [],
    {
      errorType: 'RATE_LIMIT',
      policyName,
      groupName: `publicapi:private-apps:${policyName.toLowerCase()}`,
      correlationId: randomUUID(),
    },
    headers,
  );
}
