import { type RawBuilder, sql } from 'kysely';
import { similarCodes } from '#core/guessableCodes.ts';
import { INVITE_CODE_MAX_LENGTH, inviteCodeError } from '#core/inviteCode.ts';
import { isMinted, isSlip } from '#core/mintedCode.ts';
import { type Holdings, isMember } from '#core/people.ts';
import type { Database } from '../../platform/database/client.ts';
import type { ByStaff } from '../../platform/deps.ts';
import { holdings } from '../../session/members.ts';
import type { Deps } from '../deps.ts';

export const invitationStates = ['unused', 'used', 'expired', 'withdrawn'] as const;
export type InvitationState = (typeof invitationStates)[number];

interface Stored {
  code: string;
  contactId: string | null;
  school: string | null;
  programme: string | null;
  expiresAt: Date | null;
  isWithdrawn: boolean;
  /** Of the last withdrawal; null if there was none. */
  withdrawnAt: Date | null;
  withdrawnBy: string | null;
  hasExpired: boolean;
}

export interface ListedInvitation extends Stored {
  /** Of several states the first of: withdrawn, used, expired. Used means that a join began with the code. */
  state: InvitationState;
}

const columns = sql`code, (select contact_id from person where person.id = invitation.person_id) as "contactId", invitation.school, invitation.programme, expires_at as "expiresAt",
  is_withdrawn as "isWithdrawn", withdrawn_at as "withdrawnAt", withdrawn_by as "withdrawnBy",
  coalesce(expires_at <= now(), false) as "hasExpired"`;

/** How many invitations one statement of {@link listInvitations} reads. */
const PAGE = 5_000;

/** Yields all invitations by code. Each statement reads a bounded number of them, however many there are. */
export async function* listInvitations(database: Database): AsyncGenerator<ListedInvitation> {
  let last = '';
  for (;;) {
    const { rows } = await sql<Stored & { isUsed: boolean }>`
      select ${columns}, used.code is not null as "isUsed"
      from (select * from invitation where code > ${last} order by code limit ${sql.lit(PAGE)}) as invitation
      left join lateral (select invitation_code as code from join_session where invitation_code = invitation.code limit 1) as used using (code)
      order by code`.execute(database);
    for (const { isUsed, ...stored } of rows) {
      const { isWithdrawn, hasExpired } = stored;
      const state = isWithdrawn ? 'withdrawn' : isUsed ? 'used' : hasExpired ? 'expired' : 'unused';
      yield { ...stored, state };
    }
    if (rows.length < PAGE) return;
    last = rows.at(-1)!.code;
  }
}

/** SQL for when a code expires. `given` is a day (YYYY-MM-DD), which ends at midnight in the time zone, or a time (ISO 8601). */
export function expiryOf(given: RawBuilder<unknown>, timeZone: string): RawBuilder<Date> {
  return sql<Date>`case when ${given} like '%T%' then ${given}::timestamptz else (${given}::date + 1)::timestamp at time zone ${timeZone} end`;
}

export type Found = 'known' | 'unknown' | 'unavailable';

/** Whether a normalised code is known here or to HubSpot, from where it is fetched. `unavailable`: HubSpot does not answer. */
export async function findCode({ database, contacts }: Deps, code: string): Promise<Found> {
  if (inviteCodeError(code) !== null) return 'unknown';
  const { rows } = await sql`select from invitation where code = ${code}`.execute(database);
  return rows.length > 0 ? 'known' : contacts.learnCode(code);
}

export interface Withdrawal {
  at: Date;
  by: string;
  /** Whether the code was withdrawn before this call. */
  isEarlier: boolean;
  /** How many joins began with the code. They go on. */
  joins: number;
}

/** Withdraws a code: it is answered like an unknown one. Returns null if there is no such code. */
export async function withdrawCode(
  { database, actor }: ByStaff<Deps>,
  code: string,
): Promise<Withdrawal | null> {
  const { rows } = await sql<{ at: Date; by: string; is_earlier: boolean; joins: number }>`
    with withdrawn as (
      update invitation set is_withdrawn = true, withdrawn_at = now(), withdrawn_by = ${actor}
      where code = ${code} and not is_withdrawn returning withdrawn_at, withdrawn_by
    )
    select coalesce(withdrawn.withdrawn_at, invitation.withdrawn_at) as at, coalesce(withdrawn.withdrawn_by, invitation.withdrawn_by) as by,
      withdrawn.withdrawn_at is null as is_earlier,
      (select count(*)::int from join_session where invitation_code = ${code}) as joins
    from invitation left join withdrawn on true where code = ${code}`.execute(database);
  if (!rows[0]) return null;
  const { is_earlier: isEarlier, ...told } = rows[0];
  return { ...told, isEarlier };
}

export type Extension =
  | { is: 'extended'; from: Date | null; until: Date }
  | { is: 'reopened'; withdrawnAt: Date; withdrawnBy: string; until: Date }
  /** The code is good for as long already; `until` is null if it never expires. */
  | { is: 'as it was'; until: Date | null };

/**
 * Lets a code expire later, at `until` (a day or a time, see {@link expiryOf}). A withdrawn code is opened again. Returns null if
 * there is no such code.
 */
export async function extendCode(deps: Deps, code: string, until: string): Promise<Extension | null> {
  return deps.database.transaction().execute(async (trx) => {
    const { rows } = await sql<Stored & { until: Date }>`
      select ${columns}, ${expiryOf(sql`${until}::text`, deps.society.society.timeZone)} as until
      from invitation where code = ${code} for update`.execute(trx);
    const [found] = rows;
    if (!found) return null;
    const { expiresAt, isWithdrawn, withdrawnAt, withdrawnBy } = found;
    if (!isWithdrawn && (expiresAt === null || expiresAt >= found.until))
      return { is: 'as it was', until: expiresAt };
    await trx
      .updateTable('invitation')
      .set({ expires_at: found.until, is_withdrawn: false })
      .where('code', '=', code)
      .execute();
    return isWithdrawn
      ? { is: 'reopened', withdrawnAt: withdrawnAt!, withdrawnBy: withdrawnBy!, until: found.until }
      : { is: 'extended', from: expiresAt, until: found.until };
  });
}

export interface KnownCode extends Stored {
  /** The contact's name as HubSpot or an import has it; null if neither does. */
  name: string | null;
  /** Whether HubSpot has deleted the contact, so that nothing is known of it. */
  isDeleted: boolean;
  isMember: boolean;
  /** How many joins began with the code, and the newest of them. */
  joins: number;
  newest: { at: Date; state: string } | null;
}

export interface UnknownCode {
  /** Why no code of ours is like this, as far as the text says. */
  form: 'malformed' | 'minted' | 'slip' | 'other';
  /** Whether HubSpot was asked, and does not know the code either. */
  isAsked: boolean;
  /** Joins began with the code while there was an invitation. */
  joins: number;
  /** Known codes that differ by one slip, five at most. */
  near: string[];
}

/**
 * Returns what is known of a code, in capitals and without what surrounds it. A code that is not known here is looked up in
 * HubSpot, and what the mirror says of its contact is read again.
 */
export async function explainCode(deps: Deps, code: string): Promise<KnownCode | UnknownCode> {
  const isMalformed = inviteCodeError(code) !== null;
  const found = await findCode(deps, code);
  if (found !== 'known') return unknownCode(deps, code, { isMalformed, isAsked: found === 'unknown' });
  const contact = await deps.database
    .selectFrom('invitation')
    .leftJoin('person', 'person.id', 'person_id')
    .select('contact_id')
    .where('code', '=', code)
    .executeTakeFirst();
  if (contact?.contact_id) await deps.contacts.refresh(contact.contact_id);
  const { rows } = await sql<
    Omit<KnownCode, 'newest' | 'isMember'> & {
      holdings: Holdings | null;
      newest_at: Date | null;
      newest_state: string | null;
    }
  >`
    select ${columns}, nullif(concat_ws(' ', profile ->> 'firstName', profile ->> 'lastName'), '') as name,
      deleted_at is not null as "isDeleted", ${holdings('invitation.person_id')} as holdings,
      newest.created_at as newest_at, newest.state as newest_state,
      (select count(*)::int from join_session where invitation_code = ${code}) as joins
    from invitation left join person on person.id = invitation.person_id
    left join lateral (
      select created_at, state from join_session where invitation_code = ${code} order by created_at desc limit 1
    ) as newest on true
    where code = ${code}`.execute(deps.database);
  if (!rows[0]) return unknownCode(deps, code, { isMalformed, isAsked: true });
  const { newest_at, newest_state, holdings: person, ...known } = rows[0];
  return {
    ...known,
    isMember: isMember(person, 'code'),
    newest: newest_at && { at: newest_at, state: newest_state! },
  };
}

async function unknownCode(
  { database }: Deps,
  code: string,
  { isMalformed, isAsked }: { isMalformed: boolean; isAsked: boolean },
): Promise<UnknownCode> {
  const plainCode = code.replace(/[^A-Z0-9]/g, '').slice(0, INVITE_CODE_MAX_LENGTH);
  const candidates = [...(isMalformed ? [plainCode] : []), ...similarCodes(plainCode)];
  const near = await sql<{ code: string }>`
    select code from invitation where code = any(${candidates}) order by code <> ${plainCode}, code limit 5`.execute(
    database,
  );
  const { rows } = await sql<{ joins: number }>`
    select count(*)::int as joins from join_session where invitation_code = ${code}`.execute(database);
  return {
    form: isMalformed ? 'malformed' : isMinted(code) ? 'minted' : isSlip(code) ? 'slip' : 'other',
    isAsked,
    joins: rows[0]!.joins,
    near: near.rows.map((row) => row.code),
  };
}
