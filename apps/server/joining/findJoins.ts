import { type RawBuilder, sql } from 'kysely';
import type { JoinSessionState } from '#core/joinSession.ts';
import { parseMemberNumber } from '#core/memberNumber.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { searchKeys } from '#core/personKeys.ts';
import type { Asked } from '#core/refundRequest.ts';
import type { MembershipStanding, RefundedLine, RefundReason, RefundStatus } from '#core/refunds.ts';
import { isOpenRequest } from '../paying/refunds/readRequests.ts';
import type { Database } from '../platform/database/client.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { presentPerson } from '../session/members.ts';
import { newestJoin, personEmail, personName, shortName } from '../session/person.ts';
import { hasPart } from '../session/words.ts';
import type { Deps } from './deps.ts';

/** A join as staff see it. Amounts are in cents. */
export interface FoundJoin {
  uuid: string;
  state: JoinSessionState;
  origin: string;
  programme: string;
  createdAt: Date;
  isErased: boolean;
  name: string | null;
  /** The lines of the join's open order. For a paid join, `payments` has the lines. */
  openLines: OrderLine[];
  /** The member's refund request that waits for an answer; null if there is none. */
  refundAsked: (Asked & { at: string; amountCents: number }) | null;
  payments: {
    id: string;
    kind: 'join' | 'upgrade';
    status: 'open' | 'succeeded' | 'canceled' | 'duplicate';
    cents: number;
    refundedCents: number;
    /** The time of payment in ISO 8601; null if the payment did not succeed. */
    paidAt: string | null;
    card: { brand: string; last4: string } | null;
    /** The person who paid by a pay link; null if none was used. */
    payer: { name: string | null; email: string | null } | null;
    standing: MembershipStanding | null;
    memberNumber: string | null;
    lines: (OrderLine & { refundedCents: number })[];
    refunds: FoundRefund[];
  }[];
}

export interface FoundRefund {
  uuid: string;
  /** Whether it was made outside Induct, so that staff may assign it to lines. */
  isElsewhere: boolean;
  cents: number;
  reason: RefundReason;
  isDispute: boolean;
  status: RefundStatus;
  /** The reason why Stripe refuses the refund or does not pay it out yet; null if there is none. */
  refusal: string | null;
  /** When the refund was decided or found, in ISO 8601. */
  at: string;
}

type FoundRow = Omit<FoundJoin, 'payments'> & {
  payments: (Omit<FoundJoin['payments'][number], 'lines'> & {
    lines: OrderLine[] | null;
    refunded: RefundedLine[];
  })[];
};

/**
 * The most people (by name or email) or joins (by code or card) that one search reads. If more match, staff have to type more.
 */
const MOST_FOUND = 2_000;

/** A person who was found and has no join. */
export interface FoundPerson {
  contactId: string | null;
  name: string | null;
  email: string | null;
  /** The codes that lead to the person, and whether a join began with each. */
  codes: { code: string; isUsed: boolean }[];
}

/** SQL for the codes that lead to the query's `person`, and whether a join began with each. */
export const personCodes = sql<FoundPerson['codes']>`coalesce((
  select json_agg(json_build_object('code', code, 'isUsed', exists (select from join_session where invitation_code = code)) order by code)
  from invitation where person_id = person.id), '[]')`;

/**
 * Finds people by any part of a name or email, or by contact id, invite code (used or not), member number, payment intent, the
 * last four digits of a card with an amount in dollars ("4242 $65"), or join uuid. Returns their joins, the newest first, and the
 * people without joins; at most `most` of each.
 */
export async function findPeople(
  { database }: Pick<Deps, 'database'>,
  text: string,
  most: number,
): Promise<{ joins: FoundJoin[]; others: FoundPerson[] }> {
  const { joins, people } = waysTo(text);
  const found = await readJoins(
    database,
    sql`${sql.join([...joins, ...people.map((ids) => sql`select uuid from join_session where person_id in (${ids})`)], sql` union `)}`,
    most,
  );
  if (people.length === 0) return { joins: found, others: [] };
  const { rows: others } = await sql<FoundPerson>`
    select contact_id as "contactId", nullif(concat_ws(' ', nullif(profile ->> 'firstName', ''), nullif(profile ->> 'lastName', '')), '') as name,
      coalesce(nullif(profile ->> 'personalEmail', ''), email) as email,
      ${personCodes} as codes
    from person where id in (${sql.join(people, sql` union `)}) and merged_into is null and deleted_at is null
      and contact_id is not null and not exists (select from join_session where person_id = person.id)
    order by name, contact_id limit ${most}`.execute(database);
  return { joins: found, others };
}

/** Reads the joins whose uuids the query `found` returns, the newest first, at most `most`. */
export async function readJoins(
  database: Database,
  found: RawBuilder<unknown>,
  most: number | null = null,
): Promise<FoundJoin[]> {
  const { rows } = await sql<FoundRow>`
    with found as (${found})
    select session.uuid, session.state, session.origin, session.programme, session.created_at as "createdAt",
      session.erased_at is not null as "isErased",
      ${shortName} as name, session.lines as "openLines",
      (select jsonb_build_object('at', created_at, 'amountCents', amount_cents) || asked from refund_request
        where session_uuid = session.uuid and ${isOpenRequest}) as "refundAsked",
      coalesce((select json_agg(json_build_object('id', intent_id, 'kind', kind, 'status', status, 'cents', payment.amount_cents,
          'refundedCents', refunded_cents, 'paidAt', succeeded_at,
          'card', case when card_last4 is not null then json_build_object('brand', coalesce(card_brand, 'Card'), 'last4', card_last4) end,
          'payer', case when by_pay_link then json_build_object('name', payer_name, 'email', receipt_email) end,
          'refunds', coalesce((select json_agg(json_build_object('uuid', refund.uuid, 'isElsewhere', reason = 'dashboard' and refund.status not in ('failed', 'canceled') and payment.status = 'succeeded', 'cents', refund.amount_cents, 'reason', reason, 'isDispute', is_dispute,
            'status', refund.status, 'refusal', refusal, 'at', refund.created_at) order by refund.created_at)
            from refund where refund.intent_id = payment.intent_id), '[]'), 'standing', (select standing from membership where payment_intent = intent_id),
          'memberNumber', (select member_number from membership where payment_intent = intent_id), 'lines', items,
          'refunded', coalesce((select json_agg(back) from refund, jsonb_array_elements(nullif(refund.lines, 'null')) as back
            where refund.intent_id = payment.intent_id and refund.status not in ('failed', 'canceled')), '[]')) order by payment.created_at)
        from payment left join order_snapshot using (session_uuid, kind, revision) where session_uuid = session.uuid), '[]') as payments
    from join_session session left join person on person.id = session.person_id
    where session.uuid in (select uuid from found)
    order by session.created_at desc, session.uuid desc limit ${most}`.execute(database);
  return rows.map((row) => ({
    ...row,
    payments: row.payments.map(({ refunded, lines, ...payment }) => ({
      ...payment,
      lines: (lines ?? []).map((line, index) => ({
        ...line,
        refundedCents: refunded
          .filter((back) => back.line === index)
          .reduce((sum, { cents }) => sum + cents, 0),
      })),
    })),
  }));
}

/** A person in a search result, with their newest join. */
export interface PersonRow {
  id: number;
  name: string | null;
  email: string | null;
  programme: string | null;
  state: JoinSessionState | null;
  paidAt: Date | null;
  memberNumber: string | null;
}

/** The cursor of a list of {@link PersonRow}s: the time (µs) and the id of the last row shown. */
export interface PersonCursor {
  micros: string;
  id: number;
}

/**
 * Finds people like {@link findPeople}, one row for each person, at most `most`. Sorts by the start of the newest join, or by
 * when a person without joins became known, the latest first. A person who was merged is replaced by the one they were merged
 * into. Erased persons are not found. `next` is null after the last row.
 */
export function searchPeople(
  deps: Pick<Deps, 'database'>,
  text: string,
  page: { most: number; after?: PersonCursor | null },
): Promise<{ rows: PersonRow[]; next: PersonCursor | null }> {
  return peopleFound(deps, waysTo(text), page);
}

/** A kind of unfinished work. {@link peopleWaiting} returns the people that it concerns. */
export type Waiting = 'letters' | 'hubspot' | 'refunds' | 'refundsAsked';

const waysToWaiting: Record<Waiting, Ways> = {
  letters: { joins: [sql`select session_uuid as uuid from letter where refusal is not null`], people: [] },
  hubspot: {
    joins: [
      sql`select session_uuid as uuid from document where crm_refusal is not null and session_uuid is not null`,
    ],
    people: [
      sql`select person_id from crm_delivery where refusal is not null`,
      sql`select person_id from document where crm_refusal is not null and person_id is not null`,
    ],
  },
  refundsAsked: {
    joins: [sql`select session_uuid as uuid from refund_request where ${isOpenRequest}`],
    people: [],
  },
  refunds: {
    joins: [
      sql`select session_uuid as uuid from payment where intent_id in (select intent_id from refund where status = 'due')`,
    ],
    people: [],
  },
};

/**
 * Returns, in the form of {@link searchPeople}, the people with unfinished work of one kind: those with refused letters, with
 * data that HubSpot refuses, with due refunds or with open refund requests.
 */
export function peopleWaiting(
  deps: Pick<Deps, 'database'>,
  queue: Waiting,
  page: { most: number; after?: PersonCursor | null },
): Promise<{ rows: PersonRow[]; next: PersonCursor | null }> {
  return peopleFound(deps, waysToWaiting[queue], page);
}

async function peopleFound(
  { database }: Pick<Deps, 'database'>,
  { joins, people }: Ways,
  { most, after = null }: { most: number; after?: PersonCursor | null },
): Promise<{ rows: PersonRow[]; next: PersonCursor | null }> {
  const found = [
    ...people,
    ...(joins.length === 0
      ? []
      : [
          sql`select (select person_id from join_session where uuid = way.uuid) from (${sql.join(joins, sql` union `)}) as way`,
        ]),
  ];
  // Uses subqueries of one row each, because PostgreSQL does not turn these into joins that read whole tables.
  const { rows } = await sql<PersonRow & { micros: string }>`
    with found (id) as (${sql.join(found, sql` union `)}),
      present as (select distinct ${presentPerson('found.id')} as id from found),
      shown as (
        select person.id, ${personName} as name, ${personEmail} as email, session.programme, session.state, session.paid_at as "paidAt",
          (extract(epoch from coalesce(session.created_at, person.created_at)) * 1000000)::bigint as micros
        from present, lateral (select * from person known where known.id = present.id limit 1) person ${newestJoin}
        where person.merged_into is null and person.erased_at is null
          and (session.uuid is not null or (contact_id is not null and person.deleted_at is null)))
    select shown.*, micros::text as micros, (
      select member_number from membership where person_id = shown.id and type = 'membership' and standing <> 'void'
      order by is_held desc, membership.id desc limit 1) as "memberNumber"
    from shown where ${after === null ? sql`true` : sql`(shown.micros, shown.id) < (${after.micros}::bigint, ${after.id}::bigint)`}
    order by shown.micros desc, shown.id desc limit ${most + 1}`.execute(database);
  const page = rows.slice(0, most);
  const last = page.at(-1);
  return {
    rows: page.map(({ micros: _, ...row }) => row),
    next: rows.length > most && last ? { micros: last.micros, id: last.id } : null,
  };
}

/** Returns queries for the ids of the people with this name, email, contact id or code. Each query can use an index. */
export function peopleBy(text: string): RawBuilder<unknown>[] {
  const { people } = waysTo(text);
  return people.length > 0 ? people : [sql`select null::bigint where false`];
}

/** Queries for the uuids of joins, and for the ids of people. Each can use an index (platform/database/plans.test.ts). */
interface Ways {
  joins: RawBuilder<unknown>[];
  people: RawBuilder<unknown>[];
}

function waysTo(text: string): Ways {
  const lower = text.toLowerCase();
  if (isUuid(lower)) return { joins: [sql`select uuid from join_session where uuid = ${lower}`], people: [] };
  if (text.startsWith('pi_'))
    return { joins: [sql`select session_uuid as uuid from payment where intent_id = ${text}`], people: [] };
  const card = /^(\d{4})\s+\$?(\d{1,6}(?:\.\d\d)?)$/.exec(text);
  if (card)
    return {
      joins: [
        sql`(select session_uuid as uuid from payment where card_last4 = ${card[1]} and amount_cents = ${Math.round(Number(card[2]) * 100)}
          order by created_at desc limit ${MOST_FOUND})`,
      ],
      people: [],
    };
  const code = text.toUpperCase();
  // A text in the form of a member number may be a name instead, so it is searched for as a name as well.
  const number = parseMemberNumber(text);
  const keys = searchKeys(text);
  return {
    joins: [
      ...(number === null
        ? []
        : [sql`select session_uuid as uuid from membership where member_number = ${number}`]),
      sql`(select uuid from join_session where invitation_code = ${code} order by created_at desc limit ${MOST_FOUND})`,
      ...(text.includes('@')
        ? [sql`select session_uuid as uuid from payment where lower(receipt_email) = ${lower}`]
        : []),
    ],
    people: [
      sql`select coalesce(merged_into, id) from person where contact_id = ${text}`,
      sql`select id from person where found_contact_id = ${text}`,
      sql`select person_id from invitation where code = ${code} and person_id is not null`,
      ...(keys.length === 0
        ? []
        : [
            sql`(select id from person where ${sql.join(
              keys.map((either) => sql`(${sql.join(either.map(hasKey), sql` or `)})`),
              sql` and `,
            )} limit ${MOST_FOUND})`,
          ]),
    ],
  };
}

/** SQL for whether the search words of the query's `person` contain a key. */
function hasKey(key: string): RawBuilder<boolean> {
  return key.length < 3 ? sql<boolean>`strpos(words, ${key}) > 0` : hasPart(key);
}
