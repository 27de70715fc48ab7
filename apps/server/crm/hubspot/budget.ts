import { type RawBuilder, sql } from 'kysely';
import { backoff } from '../../platform/database/backoff.ts';
import type { Database } from '../../platform/database/client.ts';

/**
 * Token buckets for HubSpot's limits for a service key: 100 calls in any ten seconds, and 4 searches in any second
 * (https://developers.hubspot.com/docs/guides/apps/api-usage/usage-details). A bucket allows at most `capacity + n * perSecond`
 * calls in any n seconds, which is a little below the limit, because of network delays.
 */
const BUCKETS = {
  call: { capacity: 15, perSecond: 8 },
  search: { capacity: 1.5, perSecond: 2.4 },
} as const;
export type CallKind = keyof typeof BUCKETS;

/** SQL for the tokens that a kind of call has now, in a query on its row of `crm_budget`. */
export function tokensNow(kind: CallKind): RawBuilder<number> {
  const { capacity, perSecond } = BUCKETS[kind];
  return sql`least(${capacity}::float, tokens + greatest(0, extract(epoch from now() - refilled_at)) * ${perSecond}::float)`;
}

/** Who waits for the result of a call: a joiner, a caller who may be guessing invite codes (`suspect`), or nobody. */
export type Urgency = 'joiner' | 'suspect' | 'background';

/** How many tokens must be left for joiners when others take one. Half a token is enough for joiners to come first. */
const RESERVED = {
  call: { joiner: 0, suspect: 0, background: 5 },
  search: { joiner: 0, suspect: 0.5, background: 0.5 },
} as const;
/**
 * After this many consecutive failures calls of the same kind pause. Then one call at a time probes whether HubSpot works again.
 */
export const FAILURES = 5;
const PROBE_SECONDS = 10;
const LONGEST_PAUSE_SECONDS = 60;

export interface Budget {
  /** Takes a token for one call and returns 0; if none may be taken now, returns how long to wait (ms, at least 1). */
  take(kind: CallKind, urgency: Urgency): Promise<number>;
  answered(kind: CallKind): Promise<void>;
  /** Records that HubSpot asked for a pause of one kind of calls, or of all calls. */
  limited(kind: CallKind | 'all', retryAfterMs: number): Promise<void>;
  /** Records that a call failed because HubSpot was down or too slow. */
  failed(kind: CallKind): Promise<void>;
  /** Returns how long (ms) calls of this kind are still paused; 0 if they are not. Takes no token. */
  blockedMs(kind: CallKind): Promise<number>;
}

/** A budget without limits, for a command that makes a few calls without a database. */
export const noBudget: Budget = {
  take: async () => 0,
  answered: async () => {},
  limited: async () => {},
  failed: async () => {},
  blockedMs: async () => 0,
};

/** Returns the budget that all processes on a database share, including their common record of limits and failures of HubSpot. */
export function sharedBudget(database: Database): Budget {
  /** The kinds of calls that have failures, as far as this process knows. An answer needs to reset only their rows. */
  const failing = new Set<CallKind>();
  return {
    async take(kind, urgency) {
      const { perSecond } = BUCKETS[kind];
      const needed = 1 + RESERVED[kind][urgency];
      const filled = tokensNow(kind);
      const { rows } = await sql<{ is_taken: boolean; wait_ms: number; failures: number }>`
        with taken as (
          update crm_budget set tokens = ${filled} - 1, refilled_at = now(),
            blocked_until = case when failures >= ${FAILURES} then now() + make_interval(secs => ${PROBE_SECONDS}) else blocked_until end
          where name = ${kind} and blocked_until <= now() and ${filled} >= ${needed}::float
          returning name
        )
        select exists (select from taken) as is_taken, failures, ceil(1000 * greatest(
          case when isfinite(blocked_until) then extract(epoch from blocked_until - now()) else 0 end,
          (${needed}::float - ${filled}) / ${perSecond}::float, 0.001))::int as wait_ms
        from crm_budget where name = ${kind}`.execute(database);
      const row = rows[0]!;
      if (row.failures > 0) failing.add(kind);
      return row.is_taken ? 0 : Math.max(1, row.wait_ms);
    },
    async answered(kind) {
      if (!failing.delete(kind)) return;
      // With fewer than FAILURES failures, a pause can only be one that HubSpot has asked for, so it stays.
      await sql`
        update crm_budget set failures = 0,
          blocked_until = case when failures >= ${FAILURES} then '-infinity' else blocked_until end
        where name = ${kind} and failures > 0`.execute(database);
    },
    async limited(kind, retryAfterMs) {
      await sql`
        update crm_budget set tokens = 0, refilled_at = now(),
          blocked_until = greatest(blocked_until, now() + make_interval(secs => ${retryAfterMs / 1000}::float))
        where name = ${kind} or ${kind} = 'all'`.execute(database);
    },
    async failed(kind) {
      failing.add(kind);
      // A pause that is longer than a probe's may be one that HubSpot has asked for, so it is not cut short.
      await sql`
        update crm_budget set failures = failures + 1, blocked_until = case when failures + 1 >= ${FAILURES}
          then greatest(
            now() + make_interval(secs => ${backoff(sql<number>`(failures + 2 - ${FAILURES})`, { first: 1, longest: LONGEST_PAUSE_SECONDS })}),
            case when blocked_until > now() + make_interval(secs => ${PROBE_SECONDS}) then blocked_until end)
          else blocked_until end
        where name = ${kind}`.execute(database);
    },
    async blockedMs(kind) {
      const { rows } = await sql<{ ms: number }>`
        select case when blocked_until > now() then ceil(1000 * extract(epoch from blocked_until - now()))::int else 0 end as ms
        from crm_budget where name = ${kind}`.execute(database);
      return rows[0]?.ms ?? 0;
    },
  };
}
