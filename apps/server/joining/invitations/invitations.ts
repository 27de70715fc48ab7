import { type RawBuilder, sql } from 'kysely';
import type { KnownCodeFacts, UnknownCodeFacts } from '#core/codeVerdict.ts';
import { similarCodes } from '#core/guessableCodes.ts';
import type { InvitationState } from '#core/invitation.ts';
import { INVITE_CODE_MAX_LENGTH, inviteCodeError } from '#core/inviteCode.ts';
import { isMinted, isSlip } from '#core/mintedCode.ts';
import { type Holdings, isMember } from '#core/people.ts';
import type { Database } from '../../platform/database/client.ts';
import type { ByStaff } from '../../platform/deps.ts';
import { holdings } from '../../session/members.ts';
import type { Deps } from '../deps.ts';

interface Stored {
  code: string;
  contactId: string | null;
  school: string | null;
  programme: string | null;
  expiresAt: Date | null;
  isWithdrawn: boolean;
  /** The time of the last withdrawal; null if there was none. */
  withdrawnAt: Date | null;
  withdrawnBy: string | null;
  hasExpired: boolean;
}

export interface ListedInvitation extends Stored {
  state: InvitationState;
}

const columns = sql`code, (select contact_id from person where person.id = invitation.person_id) as "contactId", invitation.school, invitation.programme, expires_at as "expiresAt",
  is_withdrawn as "isWithdrawn", withdrawn_at as "withdrawnAt", withdrawn_by as "withdrawnBy",
  coalesce(expires_at <= now(), false) as "hasExpired"`;

/** SQL for the {@link InvitationState} of the query's `invitation`. */
export const stateOf = sql<InvitationState>`case when invitation.is_withdrawn then 'withdrawn'
  when (select true from join_session where invitation_code = invitation.code limit 1) then 'used'
  when invitation.expires_at <= now() then 'expired' else 'unused' end`;

/** SQL for the name that HubSpot or an import has for the query's `person`; null if neither has one. */
const contactName = sql<
  string | null
>`nullif(concat_ws(' ', person.profile ->> 'firstName', person.profile ->> 'lastName'), '')`;

/** How many invitations one statement of {@link listInvitations} reads. */
const PAGE = 5_000;

/** Yields all invitations, sorted by code. Each statement reads a bounded number of them, however many there are. */
export async function* listInvitations(database: Database): AsyncGenerator<ListedInvitation> {
  let last = '';
  for (;;) {
    const { rows } = await sql<ListedInvitation>`
      select ${columns}, ${stateOf} as state
      from (select * from invitation where code > ${last} order by code limit ${sql.lit(PAGE)}) as invitation
      order by code`.execute(database);
    yield* rows;
    if (rows.length < PAGE) return;
    last = rows.at(-1)!.code;
  }
}

/** SQL for when a code expires. `given` is a day (YYYY-MM-DD), which ends at midnight in the time zone, or a time (ISO 8601). */
export function expiryOf(given: RawBuilder<unknown>, timeZone: string): RawBuilder<Date> {
  return sql<Date>`case when ${given} like '%T%' then ${given}::timestamptz else (${given}::date + 1)::timestamp at time zone ${timeZone} end`;
}

export type Found = 'known' | 'unknown' | 'unavailable';

/**
 * Returns whether a normalised code is known here or to HubSpot. A code that only HubSpot knows is fetched. `unavailable`:
 * HubSpot does not answer.
 */
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
  /** How many joins began with the code. They continue. */
  joins: number;
}

/** Returns those of the codes that are not withdrawn, in the given order. */
export async function openCodes(
  { database }: Pick<Deps, 'database'>,
  codes: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    select code from invitation where code = any(${codes}) and not is_withdrawn`.execute(database);
  return inOrder(codes, rows);
}

const inOrder = (codes: readonly string[], rows: readonly { code: string }[]) => {
  const found = new Set(rows.map(({ code }) => code));
  return codes.filter((code) => found.has(code));
};

/** Withdraws codes, which are then refused like unknown ones. Returns those that were not withdrawn before. */
export async function withdrawCodes(
  { database, actor }: ByStaff<Pick<Deps, 'database' | 'actor'>>,
  codes: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    update invitation set is_withdrawn = true, withdrawn_at = now(), withdrawn_by = ${actor}
    where code = any(${codes}) and not is_withdrawn returning code`.execute(database);
  return rows.map(({ code }) => code);
}

/** Withdraws one code like {@link withdrawCodes}. Returns null if there is no such code. */
export async function withdrawCode(deps: ByStaff<Deps>, code: string): Promise<Withdrawal | null> {
  const withdrawn = await withdrawCodes(deps, [code]);
  const { rows } = await sql<Omit<Withdrawal, 'isEarlier'>>`
    select withdrawn_at as at, withdrawn_by as by,
      (select count(*)::int from join_session where invitation_code = ${code}) as joins
    from invitation where code = ${code}`.execute(deps.database);
  return rows[0] ? { ...rows[0], isEarlier: withdrawn.length === 0 } : null;
}

export type Extension =
  /** `until` is null if the code never expires. */
  | { is: 'extended'; from: Date | null; until: Date | null }
  | { is: 'reopened'; withdrawnAt: Date; withdrawnBy: string; until: Date | null }
  /** The code was already valid until then. */
  | { is: 'as it was'; until: Date | null };

/** A code that is withdrawn or expires before a given time, as staff have seen it. */
export interface ShortCode {
  code: string;
  /** The time as PostgreSQL writes it, with microseconds; null if the code never expires. */
  expiresAt: string | null;
  isWithdrawn: boolean;
  /** Whether a withdrawn code expires after the given time or never, so that extending only reopens it. */
  isLonger: boolean;
}

/** Returns those of the codes that are withdrawn or expire before `until` (see {@link expiryOf}), in the given order. */
export async function shortCodes(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  codes: readonly string[],
  until: string,
): Promise<ShortCode[]> {
  const { rows } = await sql<ShortCode>`
    select code, expires_at::text as "expiresAt", is_withdrawn as "isWithdrawn", coalesce(expires_at > given.until, true) as "isLonger"
    from invitation, (select ${expiryOf(sql`${until}::text`, society.society.timeZone)} as until) as given
    where code = any(${codes}) and (is_withdrawn or expires_at < given.until)`.execute(database);
  const found = new Map(rows.map((row) => [row.code, row]));
  return codes.flatMap((code) => found.get(code) ?? []);
}

/**
 * Extends codes to `until` (a day or a time, see {@link expiryOf}); a code that expires later is not shortened. Reopens withdrawn
 * codes. Changes and returns only codes that are still as in `seen`.
 */
export async function extendCodes(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  seen: readonly ShortCode[],
  until: string,
): Promise<string[]> {
  const { rows } = await sql<{ code: string }>`
    update invitation set is_withdrawn = false,
      expires_at = case when invitation.expires_at is not null
        then greatest(invitation.expires_at, ${expiryOf(sql`${until}::text`, society.society.timeZone)}) end
    from json_to_recordset(${JSON.stringify(seen)}::json) as seen (code text, "expiresAt" timestamptz, "isWithdrawn" boolean)
    where invitation.code = seen.code and invitation.is_withdrawn = seen."isWithdrawn"
      and invitation.expires_at is not distinct from seen."expiresAt"
    returning invitation.code`.execute(database);
  return rows.map(({ code }) => code);
}

/** Extends one code like {@link extendCodes}. Returns null if there is no such code. */
export async function extendCode(deps: Deps, code: string, until: string): Promise<Extension | null> {
  return deps.database.transaction().execute(async (trx) => {
    const read = async (lock: RawBuilder<unknown>) =>
      (await sql<Stored>`select ${columns} from invitation where code = ${code} ${lock}`.execute(trx))
        .rows[0];
    const found = await read(sql`for update`);
    if (!found) return null;
    const inIt = { ...deps, database: trx };
    const short = await shortCodes(inIt, [code], until);
    if (short.length === 0) return { is: 'as it was', until: found.expiresAt };
    await extendCodes(inIt, short, until);
    const { expiresAt } = (await read(sql``))!;
    return found.isWithdrawn
      ? {
          is: 'reopened',
          withdrawnAt: found.withdrawnAt!,
          withdrawnBy: found.withdrawnBy!,
          until: expiresAt,
        }
      : { is: 'extended', from: found.expiresAt, until: expiresAt };
  });
}

export interface KnownCode extends Omit<KnownCodeFacts, 'programmeFault'> {
  programme: string | null;
  /** The person that it leads to; null if it leads to a school. */
  personId: number | null;
}

export interface UnknownCode extends Omit<UnknownCodeFacts, 'near'> {
  /** Known codes that differ by one slip, at most five, and the person or school that each leads to. */
  near: { code: string; personId: number | null; whom: string | null }[];
}

/**
 * Returns what is known about a code, which must be normalised. A code that is not known here is looked up in HubSpot. The code's
 * contact is read from HubSpot again.
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
    select ${columns}, ${contactName} as name, coalesce(person.merged_into, person.id) as "personId",
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
  const near = await sql<UnknownCode['near'][number]>`
    select code, coalesce(person.merged_into, person.id) as "personId", coalesce(school, ${contactName}) as whom
    from invitation left join person on person.id = person_id
    where code = any(${candidates}) order by code <> ${plainCode}, code limit 5`.execute(database);
  const { rows } = await sql<{ joins: number }>`
    select count(*)::int as joins from join_session where invitation_code = ${code}`.execute(database);
  return {
    form: isMalformed ? 'malformed' : isMinted(code) ? 'minted' : isSlip(code) ? 'slip' : 'other',
    isAsked,
    joins: rows[0]!.joins,
    near: near.rows,
  };
}
