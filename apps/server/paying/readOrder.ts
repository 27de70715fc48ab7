import { sql } from 'kysely';
import { type Holding, type JoinAccess, seesJoiner } from '#core/holding.ts';
import type { JoinIdentity } from '#core/intentText.ts';
import { MEMBERSHIP_FIRST } from '#core/joinSession.ts';
import { displayPrice } from '#core/money.ts';
import type { OpenLine, OrderLine } from '#core/orderLine.ts';
import { summarise } from '#core/orderSummary.ts';
import { BEING_PAID } from '#core/payLink.ts';
import { type Holdings, orderRefusal } from '#core/people.ts';
import { joinerEmails, type KnownEmails } from '#core/recipients.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { joinerHoldings, refusedSale } from '../session/members.ts';
import { firstName, knownEmails, lastName } from '../session/person.ts';
import { accessOf, admitted, readStanding, upgradeOffer } from '../session/standing.ts';
import { pauseSeconds } from './cardFailures.ts';
import type { Deps } from './deps.ts';

export interface Order {
  state: string;
  revision: number;
  lines: OrderLine[];
  totalCents: number;
  /** Whether the intent must save the card: an upgrade will be offered after this order. */
  saveCard: boolean;
  /**
   * The joiner's known email addresses ({@link joinerEmails}); null for each that is missing. Empty if this browser may not see
   * who the joiner is, because Stripe shows the receipt's email to anybody who has the intent's client secret.
   */
  emails: (string | null)[];
  identity: JoinIdentity;
  /**
   * `attempts`: how many intents the session's order has had, without those of the upgrade. `providerFailures`: how many of the
   * session's calls to create something have failed at Stripe. The next idempotency key contains both.
   */
  attempts: number;
  providerFailures: number;
  /** How many of these intents (`attempts`) fall in the time window of the limit. */
  recentAttempts: number;
  addressHash: string | null;
  /** Seconds until the joiner may try another card, after too many were declined; 0 if the joiner need not wait. */
  pauseSeconds: number;
  /**
   * The running update of the order's intent at Stripe; null if there is none.
   * - `ms`: how long it has been running.
   * - `mark`: identifies the update, so that only the call that began it ends it. Null if a server version without marks began it.
   */
  change: { mark: string | null; ms: number } | null;
  open: {
    intentId: string;
    clientSecret: string;
    revision: number;
    amountCents: number;
    email: string | null;
    savesCard: boolean | null;
    /** Whether the intent was opened by a pay link. */
    byPayLink: boolean;
    payerName: string | null;
  } | null;
}

/** Returns the refusal (409) for an amount that is not the order's total. The page then shows the new total. */
export function totalChanged(totalCents: number): Refusal {
  return new Refusal(
    409,
    `Your order has changed: the total is now ${displayPrice(totalCents)}. Please check it and try again.`,
  );
}

/** Returns the refusal (409) for a joiner while somebody pays by their pay link. */
export const beingPaid = () => new Refusal(409, BEING_PAID, { code: 'being_paid' });

/**
 * Reads the order and the open intent of a session that may be paid. Throws if there is nothing to pay. `holding` is null for somebody
 * who pays by a pay link.
 */
export async function readOrder(deps: Deps, uuid: string, holding: Holding | null): Promise<Order> {
  const { limits } = deps.config;
  const { rows } = await sql<
    JoinAccess & {
      revision: number;
      upsell_product_id: number | null;
      known: KnownEmails;
      identity: JoinIdentity;
      attempts: number;
      recent_attempts: number;
      address_hash: string | null;
      pause_seconds: number;
      holdings: Holdings;
      change: Order['change'];
      provider_failures: number;
      open: Order['open'];
      lines: OpenLine[];
    }
  >`
    select ${accessOf('session')}, revision, upsell_product_id, ${knownEmails} as known,
      json_build_object('origin', origin, 'programme', programme, 'contactId', case when not made_contact then contact_id end, 'school', school,
        'firstName', ${firstName},
        'lastName', ${lastName}) as identity,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join') as attempts,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join'
        and payment.created_at > now() - make_interval(mins => ${limits?.intentsPerSession.minutes ?? 0})) as recent_attempts,
      address_hash, ${pauseSeconds(deps)} as pause_seconds,
      case when intent_changing_since is not null then json_build_object('mark', intent_change, 'ms',
        case when isfinite(intent_changing_since) then extract(epoch from now() - intent_changing_since) * 1000 else 1e9 end) end as change,
      provider_failures, ${joinerHoldings('session')} as holdings,
      (select json_build_object('intentId', intent_id, 'clientSecret', client_secret, 'revision', revision, 'amountCents', amount_cents, 'email', receipt_email, 'savesCard', saves_card,
          'byPayLink', by_pay_link, 'payerName', payer_name)
        from payment where session_uuid = session.uuid and kind = 'join' and status = 'open') as open, lines
    from join_session session left join person on person.id = session.person_id
    where session.uuid = ${uuid}`.execute(deps.database);
  const row = await admitted(deps, 'createPaymentIntent', { uuid, holding }, rows[0]);
  const refusal = orderRefusal(row.lines, row.holdings);
  if (refusal) throw refusedSale(refusal);
  const { membership, totalDueTodayCents } = summarise(row.lines);
  if (!membership) throw new Refusal(409, MEMBERSHIP_FIRST, { goOn: (await readStanding(deps, uuid))?.goOn });
  return {
    state: row.state,
    revision: row.revision,
    lines: row.lines.map(({ productId, type, name, priceCents }) => ({ productId, type, name, priceCents })),
    totalCents: totalDueTodayCents,
    saveCard:
      !row.holdings.holdsUpgrade && upgradeOffer(deps, membership.productId, row.upsell_product_id) !== null,
    emails: holding === null || seesJoiner(holding, row) ? joinerEmails(row.known) : [],
    identity: row.identity,
    attempts: row.attempts,
    providerFailures: row.provider_failures,
    recentAttempts: row.recent_attempts,
    addressHash: row.address_hash,
    pauseSeconds: row.pause_seconds,
    change: row.change,
    open: row.open,
  };
}
