import { sql } from 'kysely';
import type { JoinSessionState } from '#core/joinSession.ts';
import type { LetterKind } from '#core/letterKinds.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { CODE_MINUTES } from '#core/pass.ts';
import { countsFor, type Holdings, isMember } from '#core/people.ts';
import type { MembershipType } from '#core/product.ts';
import { type KnownEmails, recipientsOf } from '#core/recipients.ts';
import type { RefundedLine, RefundReason, RefundStatus } from '#core/refunds.ts';
import { proofDueAt } from '#core/specified.ts';
import type { RejectionReason } from '#documents/document.ts';
import type { PaymentTable } from '../platform/database/types.ts';
import { mailTimes } from '../providers/mail/client.ts';
import { alikeTo, isProven } from '../session/alike.ts';
import { goesBack } from '../session/goesBack.ts';
import {
  baseMembership,
  hasEnded,
  isReturned,
  joinerHoldings,
  joinHolds,
  membershipFee,
} from '../session/members.ts';
import { firstName, knownEmails, lastName } from '../session/person.ts';
import { isProof } from '../session/proof.ts';
import type { Deps } from './deps.ts';
import type { DueLetter } from './dueLetters.ts';

/** For this many seconds after a server has taken a letter, no other server takes it. Sending takes less time. */
const TAKEN_SECONDS = (mailTimes.openMs + mailTimes.sendMs + mailTimes.answerMs) / 1000 + 35;

/** A letter with the current values of everything that its text may use. Amounts are in cents. */
export interface Letter {
  id: string;
  kind: LetterKind;
  sessionUuid: string | null;
  occasion: string;
  data: Record<string, unknown>;
  dueAt: Date;
  attempts: number;
  /** The recipient's possible addresses, the preferred one first, exactly as they were typed or as HubSpot stores them. */
  emails: (string | null)[];
  /** The join's programme; null when the letter is not about a join. */
  programme: string | null;
  state: JoinSessionState | null;
  isSelfNomination: boolean;
  /** Whether somebody has proven to be the joiner, by a pass. */
  isProven: boolean;
  /** The joiner's first and last name. */
  firstName: string | null;
  lastName: string | null;
  paidAt: Date | null;
  /**
   * The processing fee (cents) with which the membership was sold: the join's membership or, for an upgrade by link, its base.
   * Null if the fee is unknown or nothing was paid.
   */
  processingFeeCents: number | null;
  /** The number of the join's membership; null when there is none, or it is void. */
  memberNumber: string | null;
  /** Whether the join's membership is held. */
  isMember: boolean;
  /**
   * The memberships and upgrades that the join or its person holds, each with the name under which it was sold. The name is null
   * if the order is lost, or if the person is a member only according to HubSpot.
   */
  held: { type: MembershipType; name: string | null }[];
  /** Whether the join has a transcript that is accepted or waits for review. */
  hasProof: boolean;
  isRejectedFinally: boolean;
  /** Whether the membership that the join has bought has ended, so that its transcripts are not reviewed any more. */
  hasEnded: boolean;
  /** Whether the join's membership was refunded or its refund is under way. */
  isReturned: boolean;
  /** Whether the join is for a membership that the same person, or one who is likely the same, already holds by another join. */
  isPayerMember: boolean;
  payment: {
    intentId: string;
    status: PaymentTable['status'];
    amountCents: number;
    succeededAt: string | null;
    card: { brand: string; last4: string } | null;
    lines: OrderLine[];
    /** Whether somebody else paid, by a pay link, and their name; null if it is unknown, or the joiner paid. */
    byPayLink: boolean;
    payerName: string | null;
    /** Whether the membership or upgrade that this payment bought is held. */
    isHeld: boolean;
    /** Whether the membership or upgrade that this payment bought has ended by a refund. */
    isRefunded: boolean;
    /** Whether all of the payment is refunded, due to be refunded or lost in a dispute. */
    goesBack: boolean;
  } | null;
  /** The refund that the letter is about. For a final rejection, the latest refund of its membership that keeps the fee. */
  refund: {
    status: RefundStatus;
    reason: RefundReason;
    amountCents: number;
    lines: RefundedLine[] | null;
  } | null;
  /** Whether the shipment that the letter is about still counts as sent. */
  isSent: boolean;
  /** The member's request for their money back; null if there is none. `isOpen`: staff have not declined it. */
  request: { amountCents: number; askedAt: string; isOpen: boolean; isDeclined: boolean } | null;
  /**
   * The current review of the document that the letter is about (`open`: not decided); null if the letter is not about a
   * document.
   */
  review: 'open' | 'accepted' | 'rejected' | null;
}

/**
 * Takes the letter that has been due for longest. Postpones it by {@link TAKEN_SECONDS}, so that no other server takes it, and so
 * that it is due again if this process dies. Returns null if no letter is due.
 */
export async function takeLetter({ database }: Pick<Deps, 'database'>): Promise<Letter | null> {
  const { rows } = await sql<LetterRow>`
    with letter as (
      update letter set attempts = attempts + 1, next_try_at = now() + make_interval(secs => ${TAKEN_SECONDS})
      where id = (
        select id from letter where sent_at is null and refusal is null and withdrawn_at is null and next_try_at <= now()
        order by next_try_at limit 1 for update skip locked)
      returning *, split_part(occasion, ' ', 1) as subject
    )
    ${readLetters}`.execute(database);
  return rows[0] ? letterOf(rows[0]) : null;
}

/** Reads one letter, due or not, as it would be sent now. Returns null if there is no such letter. */
export async function readLetter({ database }: Pick<Deps, 'database'>, id: string): Promise<Letter | null> {
  const { rows } = await sql<LetterRow>`
    with letter as (select *, split_part(occasion, ' ', 1) as subject from letter where id = ${id}) ${readLetters}`.execute(
    database,
  );
  return rows[0] ? letterOf(rows[0]) : null;
}

/** Returns a letter that does not exist yet, as it would be sent now. */
export async function readUnwritten(
  { database }: Pick<Deps, 'database'>,
  { kind, sessionUuid, occasion }: Pick<DueLetter, 'kind' | 'sessionUuid' | 'occasion'>,
): Promise<Letter> {
  const { rows } = await sql<LetterRow>`
    with letter as (
      select gen_random_uuid() as id, ${kind}::text as kind, ${sessionUuid}::uuid as session_uuid, ${occasion}::text as occasion,
        null::text as email, '{}'::jsonb as data, now() as due_at, 0 as attempts, split_part(${occasion}, ' ', 1) as subject)
    ${readLetters}`.execute(database);
  return letterOf(rows[0]!);
}

/** A letter as the SQL returns it, with the facts that decide who is a member. */
interface LetterRow extends Omit<Letter, 'isPayerMember' | 'emails'> {
  email: string | null;
  known: KnownEmails | null;
  isByCheckoutLink: boolean;
  joiner: Holdings | null;
  isJoinProven: boolean;
  /**
   * If the join is for a membership: the other joins by which the same person, or one who is likely the same, holds a membership.
   */
  heldBeside: { isProven: boolean }[];
}

function letterOf({
  email,
  known,
  isByCheckoutLink,
  joiner,
  isJoinProven,
  heldBeside,
  ...letter
}: LetterRow): Letter {
  return {
    ...letter,
    emails: recipientsOf({ kind: letter.kind, email, isByCheckoutLink, known }),
    held: isMember(joiner, 'joiner') ? [...letter.held, { type: 'membership', name: null }] : letter.held,
    isPayerMember: heldBeside.some((other) => countsFor(other, { isProven: isJoinProven })),
  };
}

/**
 * SQL that reads the data of the query's `letter`. The letter's column `subject` is the first word of its occasion, such as the
 * id of a payment, refund or document.
 */
const readLetters = sql`
  select letter.id, letter.kind, letter.session_uuid as "sessionUuid", occasion, data, due_at as "dueAt", letter.attempts,
    letter.email, case when session.uuid is not null then ${knownEmails} end as known, coalesce(session.origin = 'checkout', false) as "isByCheckoutLink",
    session.programme, session.state, coalesce(session.origin = 'self_nomination', false) as "isSelfNomination", session.proven_at is not null as "isProven",
    ${firstName} as "firstName", ${lastName} as "lastName", session.paid_at as "paidAt",
    ${membershipFee} as "processingFeeCents", ${joinHolds('session.uuid', 'membership')} as "isMember",
    (select coalesce(jsonb_agg(jsonb_build_object('type', bought.type, 'name', (
        select line ->> 'name' from payment paid join order_snapshot using (session_uuid, kind, revision), jsonb_array_elements(items) as line
        where paid.intent_id = bought.payment_intent and line ->> 'type' = bought.type::text))), '[]')
      from membership bought where is_held and (session_uuid = session.uuid or person_id = session.person_id)) as held,
    ${joinerHoldings('session')} as joiner, coalesce(${isProven('session')}, false) as "isJoinProven",
    (select member_number from membership where session_uuid = session.uuid and type = 'membership' and standing <> 'void') as "memberNumber",
    exists (select from document where session_uuid = session.uuid and ${isProof}) as "hasProof",
    exists (select from document where session_uuid = session.uuid and is_final) as "isRejectedFinally",
    ${hasEnded('session.uuid')} as "hasEnded", ${isReturned('session.uuid')} as "isReturned",
    (select coalesce(json_agg(json_build_object('isProven', ${isProven('other')})), '[]')
      from join_session other join membership bought on bought.session_uuid = other.uuid and bought.type = 'membership' and bought.is_held
      where session.lines @> '[{"type": "membership"}]' and other.person_id in ${alikeTo(sql`session.person_id`)} and other.uuid <> session.uuid) as "heldBeside",
    case when payment.intent_id is not null then json_build_object('intentId', payment.intent_id, 'status', payment.status,
      'amountCents', payment.amount_cents, 'succeededAt', succeeded_at,
      'card', case when card_last4 is not null then json_build_object('brand', coalesce(card_brand, 'Card'), 'last4', card_last4) end,
      'lines', coalesce(snapshot.items, '[]'), 'byPayLink', by_pay_link, 'payerName', payer_name,
      'isHeld', exists (select from membership where payment_intent = payment.intent_id and is_held),
      'isRefunded', exists (select from membership where payment_intent = payment.intent_id and standing = 'refunded'),
      'goesBack', ${goesBack}) end as payment,
    case when refund.uuid is not null then json_build_object('status', refund.status, 'reason', refund.reason, 'amountCents', refund.amount_cents,
      'lines', refund.lines) end as refund,
    exists (select from shipment where letter.kind = 'goods-sent' and shipment.id = (data ->> 'shipment')::bigint and unshipped_at is null) as "isSent",
    (select json_build_object('amountCents', amount_cents, 'askedAt', created_at, 'isOpen', declined_at is null, 'isDeclined', declined_at is not null)
      from refund_request where session_uuid = session.uuid) as request,
    document.review
  from letter
    left join join_session session on session.uuid = letter.session_uuid
    left join person on person.id = session.person_id
    left join refund on refund.uuid = case when letter.kind in ('refund', 'payer-refund') then subject::uuid
      when letter.kind = 'proof-rejected' and data -> 'isFinal' = 'true' then (
        select uuid from refund as kept where reason = 'ineligible' and status not in ('failed', 'canceled')
          and intent_id = (select payment_intent from ${baseMembership} as base) order by created_at desc limit 1) end
    left join document on document.id = case when letter.kind in ('proof-accepted', 'proof-rejected') then subject::uuid end
    left join payment on payment.intent_id = coalesce(refund.intent_id, subject)
    left join order_snapshot snapshot on snapshot.session_uuid = payment.session_uuid and snapshot.kind = payment.kind
      and snapshot.revision = payment.revision`;

/** Whether the statements of a letter are still true. If they are not, the letter is not sent. */
export function holds(letter: Letter, now: Date): boolean {
  const { kind, payment, refund, review } = letter;
  switch (kind) {
    case 'confirmation':
    case 'upgrade':
    case 'payer-receipt':
      return payment?.status === 'succeeded' && payment.isHeld;
    case 'certificate':
    case 'portal':
      return letter.isMember;
    case 'proof-due':
    case 'proof-overdue':
      return (
        letter.isMember &&
        !letter.hasProof &&
        !letter.isRejectedFinally &&
        letter.paidAt !== null &&
        proofDueAt(letter.paidAt) > now === (kind === 'proof-due')
      );
    case 'proof-accepted':
      return review === 'accepted' && !letter.hasEnded;
    case 'proof-rejected':
      // A rejection that is not final has a letter that asks for another transcript. That letter becomes untrue when another
      // transcript arrives, when the membership ends, or when a final rejection follows. A final rejection has its own letter. It
      // ends the membership, so `hasEnded` must not withdraw its letter.
      if (review !== 'rejected') return false;
      return letter.data.isFinal === true
        ? letter.isRejectedFinally
        : !letter.isRejectedFinally && !letter.hasProof && !letter.hasEnded;
    case 'refund':
    case 'payer-refund':
      return refund?.status === 'succeeded';
    case 'goods-sent':
      return letter.isSent;
    case 'refund-asked':
      return letter.request?.isOpen === true && !letter.hasEnded;
    case 'refund-declined':
      return letter.request?.isDeclined === true;
    case 'second-payment':
      return payment?.status === 'duplicate' && payment.goesBack;
    case 'payment-failed':
      return letter.state !== 'paid' && payment?.status !== 'succeeded' && !letter.isPayerMember;
    case 'payer-failed':
      return payment?.status !== 'succeeded';
    case 'link':
    case 'email-changed':
      return true;
    case 'code':
      return letter.dueAt.getTime() + CODE_MINUTES * 60_000 > now.getTime();
    // Reminders must meet further conditions, which judgeLetter.ts checks.
    case 'reminder-hour':
    case 'reminder-days':
      return letter.state !== null && letter.state !== 'paid';
  }
}

/** The `data` of a letter about a rejection. */
export interface RejectionData {
  reason: RejectionReason;
  isFinal: boolean;
}

/** The `data` of a letter about goods that were sent. `shipment`: the id of the row of the first of them. */
export interface SentData {
  shipment: number;
  goods: string[];
  tracking: string | null;
}

/** The `data` of a letter about a payment that failed. */
export interface FailedData {
  /** The amount (cents) for which the bank was asked. The order and its intent may change before the letter is sent. */
  amountCents: number;
}
