import { type RawBuilder, sql } from 'kysely';
import type { Limit } from '../platform/config/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { payments } from '../platform/metrics.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { cancelIntent } from './cancelIntent.ts';
import type { Deps } from './deps.ts';
import { namedOrder } from './namedOrder.ts';

/** A failed charge that an event reports. `id` is Stripe's id of the charge. */
export interface FailedCharge {
  id: string;
  at: Date;
}

/**
 * Records declined cards, each once, by Stripe's id of the failed charge: the charge that an event reports (`named`), and the
 * intent's last charge. The event's charge is needed because an intent shows only its last charge, however many cards were tried.
 * After too many failures the intent is cancelled at Stripe. Otherwise somebody who tests stolen cards could continue at Stripe
 * with the intent's client secret, without calling our server.
 */
export async function noteFailure(
  deps: Deps,
  intent: Intent,
  named: FailedCharge | null = null,
): Promise<void> {
  const order = namedOrder(deps, intent);
  if (!order) return;
  const { charge } = intent;
  const failed = new Map<string, Date>();
  if (named) failed.set(named.id, named.at);
  if (charge?.isDeclined) failed.set(charge.id, charge.createdAt);
  if (failed.size === 0) return;
  const rows = JSON.stringify([...failed].map(([id, at]) => ({ id, at })));
  const { numAffectedRows = 0n } = await sql`
    insert into card_failure (charge_id, session_uuid, address_hash, created_at)
    select failed.id, uuid, address_hash, least(failed.at, now())
    from join_session, json_to_recordset(${rows}::json) as failed (id text, at timestamptz) where uuid = ${order.uuid}
    on conflict do nothing`.execute(deps.database);
  payments.inc({ kind: order.kind, outcome: 'declined' }, Number(numAffectedRows));
  if (intent.status === 'requires_payment_method' && (await isPaused(deps, order.uuid)))
    await cancelIntent(deps, intent.id);
}

/** Returns the refusal (429) for a session that must wait `seconds` before it may try another card ({@link pauseSeconds}). */
export function tooManyDeclined(seconds: number): Refusal {
  const minutes = Math.ceil(seconds / 60);
  return new Refusal(
    429,
    `Too many cards were declined. Please wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`} and try again. Nothing was charged.`,
    { retryAfter: seconds },
  );
}

/**
 * SQL for the seconds until the session may try a card again; 0 if it need not wait. Counts the failures of the session, and
 * those of its counted address, each within the time window of its limit. To be used in a query of `join_session as session`.
 */
export function pauseSeconds(deps: Deps): RawBuilder<number> {
  const { limits } = deps.config;
  if (!limits) return sql<number>`0`;
  const until = ({ count, minutes }: Limit, same: RawBuilder<boolean>) => sql`
    extract(epoch from (
      select created_at from card_failure where ${same} order by created_at desc offset ${Math.max(count, 1) - 1} limit 1
    ) + make_interval(mins => ${minutes}) - now())`;
  return sql<number>`ceil(greatest(
    ${until(limits.cardFailuresPerSession, sql`card_failure.session_uuid = session.uuid`)},
    ${until(limits.cardFailuresPerAddress, sql`card_failure.address_hash = session.address_hash`)},
    0))::int`;
}

async function isPaused(deps: Deps, uuid: string): Promise<boolean> {
  const { rows } = await sql<{ seconds: number }>`
    select ${pauseSeconds(deps)} as seconds from join_session session where uuid = ${uuid}`.execute(
    deps.database,
  );
  return (rows[0]?.seconds ?? 0) > 0;
}
