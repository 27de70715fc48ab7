import { randomUUID } from 'node:crypto';
import { CrmError } from './errors.ts';

/** How many calls the account may make (https://developers.hubspot.com/docs/guides/apps/api-usage/usage-details). */
export interface Limits {
  /** Calls other than search in any ten seconds. */
  tenSecondly: number;
  /** Searches in any second. */
  searchSecondly: number;
}

export const PUBLISHED_LIMITS: Limits = { tenSecondly: 100, searchSecondly: 4 };

/** Counts calls over rolling windows, by the emulator's clock. */
export class RateLimit {
  readonly #limits: Limits | 'off';
  readonly #calls: number[] = [];
  readonly #searches: number[] = [];

  constructor(limits: Limits | 'off') {
    this.#limits = limits;
  }

  /** Counts a call at `now` (ms) and gives the headers that its answer carries, or throws the 429. */
  count(isSearch: boolean, now: number): Record<string, string> {
    if (this.#limits === 'off') return {};
    const { tenSecondly, searchSecondly } = this.#limits;
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
  const wait = Math.ceil((calls[0]! + window - now) / 1000);
  throw new CrmError(
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
    {
      ...headers,
      'retry-after': String(Math.max(wait, 1)),
      ...(policyName !== 'SECONDLY' && { 'x-hubspot-ratelimit-remaining': '0' }),
    },
  );
}
