import { type RawBuilder, sql } from 'kysely';
import { parseMemberNumber } from '#core/memberNumber.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { searchKeys } from '#core/personKeys.ts';
import type { RefundedLine } from '#core/refunds.ts';
import type { Database } from '../platform/database/client.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { shortName } from '../session/person.ts';
import { hasPart } from '../session/words.ts';
import type { Deps } from './deps.ts';

/** A join as the staff commands show it. Amounts are in cents. */
export interface FoundJoin {
  uuid: string;
  state: string;
  programme: string;
  createdAt: Date;
  name: string | null;
  /** The lines of the join's open order. For a paid join, `payments` has the lines. */
  openLines: OrderLine[];
  payments: {
    id: string;
    kind: string;
    status: string;
    cents: number;
    refundedCents: number;
    standing: string | null;
    memberNumber: string | null;
    lines: (OrderLine & { refundedCents: number })[];
  }[];
}

type FoundRow = Omit<FoundJoin, 'payments'> & {
  payments: (Omit<FoundJoin['payments'][number], 'lines'> & {
    lines: OrderLine[] | null;
    refunded: RefundedLine[];
  })[];
};

/** Of how many people with such a name or email the joins are looked for. Staff who find more have to type more of it. */
const MOST_PEOPLE = 2_000;

/** A person of whom no join was found. */
export interface FoundPerson {
  contactId: string | null;
  name: string | null;
  email: string | null;
  /** The codes that lead to the person, and whether a join began with each. */
  codes: { code: string; isUsed: boolean }[];
}

/**
 * Finds people by any part of a name or email, or by contact id, invite code (used or not), member number, payment intent, the last
 * four digits of a card with an amount in dollars ("4242 $65"), or join uuid. Returns their joins, the newest first, and those who
 * have none; of each at most `most`.
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
      coalesce((select json_agg(json_build_object('code', code,
          'isUsed', exists (select from join_session where invitation_code = code)) order by code)
        from invitation where person_id = person.id), '[]') as codes
    from person where id in (${sql.join(people, sql` union `)}) and merged_into is null and deleted_at is null
      and contact_id is not null and not exists (select from join_session where person_id = person.id)
    order by name, contact_id limit ${most}`.execute(database);
  return { joins: found, others };
}

/** Reads the joins whose uuids the query `found` returns, the newest first. */
async function readJoins(database: Database, found: RawBuilder<unknown>, most: number): Promise<FoundJoin[]> {
  const { rows } = await sql<FoundRow>`
    with found as (${found})
    select session.uuid, session.state, session.programme, session.created_at as "createdAt",
      ${shortName} as name, session.lines as "openLines",
      coalesce((select json_agg(json_build_object('id', intent_id, 'kind', kind, 'status', status, 'cents', payment.amount_cents,
          'refundedCents', refunded_cents, 'standing', (select standing from membership where payment_intent = intent_id),
          'memberNumber', (select member_number from membership where payment_intent = intent_id), 'lines', items,
          'refunded', coalesce((select json_agg(back) from refund, jsonb_array_elements(nullif(refund.lines, 'null')) as back
            where refund.intent_id = payment.intent_id and refund.status not in ('failed', 'canceled')), '[]')) order by payment.created_at)
        from payment left join order_snapshot using (session_uuid, kind, revision) where session_uuid = session.uuid), '[]') as payments
    from join_session session left join person on person.id = session.person_id
    where session.uuid in (select uuid from found)
    order by session.created_at desc limit ${most}`.execute(database);
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
        sql`select session_uuid as uuid from payment where card_last4 = ${card[1]} and amount_cents = ${Math.round(Number(card[2]) * 100)}`,
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
      sql`select uuid from join_session where invitation_code = ${code}`,
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
            )} limit ${MOST_PEOPLE})`,
          ]),
    ],
  };
}

/** SQL for whether a key is a part of the words of the query's `person`. */
function hasKey(key: string): RawBuilder<boolean> {
  return key.length < 3 ? sql<boolean>`strpos(words, ${key}) > 0` : hasPart(key);
}
