import { type RawBuilder, sql } from 'kysely';
import { parseMemberNumber } from '#core/memberNumber.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { RefundedLine } from '#core/refunds.ts';
import { isOfContact } from '../contacts/crmId.ts';
import type { Deps } from '../deps.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { shortName } from '../session/person.ts';

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

/**
 * Finds joins, the newest first, by any of: join uuid, payment intent, contact id, invite code, member number, email (of the
 * joiner, the contact or a receipt), or name. The beginnings of the words of a name are enough.
 */
export async function findJoins(
  { database }: Pick<Deps, 'database'>,
  text: string,
  most: number,
): Promise<FoundJoin[]> {
  const found = sql.join(waysTo(text), sql` union `);
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

/**
 * Returns one SQL query for each way in which `text` can match a join. Each query can use an index, as
 * apps/server/platform/database/plans.test.ts checks.
 */
function waysTo(text: string): RawBuilder<unknown>[] {
  const lower = text.toLowerCase();
  if (isUuid(lower)) return [sql`select uuid from join_session where uuid = ${lower}`];
  if (text.startsWith('pi_'))
    return [sql`select session_uuid as uuid from payment where intent_id = ${text}`];
  if (text.includes('@')) {
    const words = sql`plainto_tsquery('simple', ${lower})`;
    const isOf = (person: string) => {
      const column = sql.ref(person);
      return sql`person_words(${column}) @@ ${words}
        and ${lower} in (lower(${column} ->> 'personalEmail'), lower(${column} ->> 'schoolEmail'), lower(${column} ->> 'email'))`;
    };
    return [
      sql`select uuid from join_session where details is not null and ${isOf('details')}`,
      sql`select uuid from join_session where person_id in (select id from person where ${isOf('profile')})`,
      sql`select session_uuid from payment where lower(receipt_email) = ${lower}`,
    ];
  }
  const words = sql`to_tsquery('simple', ${beginnings(text)})`;
  const code = text.toUpperCase();
  // A text in the form of a member number may be a name instead, so it is searched for as a name as well.
  const number = parseMemberNumber(text);
  return [
    ...(number === null
      ? []
      : [sql`select session_uuid as uuid from membership where member_number = ${number}`]),
    sql`select uuid from join_session where ${isOfContact(sql`${text}`)}`,
    sql`select uuid from join_session where invitation_code = ${code}`,
    sql`select uuid from join_session where details is not null and person_words(details) @@ ${words}`,
    sql`select uuid from join_session where person_id in (select id from person where person_words(profile) @@ ${words})`,
  ];
}

/** Returns a full-text query of PostgreSQL for words that begin with the words of this name: 'jor':* & 'riv':* */
function beginnings(name: string): string {
  const words = name.split(/\s+/).map((word) => word.replaceAll(/['\\]/g, ' ').trim());
  return words
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .map((word) => `'${word}':*`)
    .join(' & ');
}
