import { type RawBuilder, sql } from 'kysely';
import type { InvitationState } from '#core/invitation.ts';
import { normaliseInviteCode } from '#core/inviteCode.ts';
import type { Database } from '../../platform/database/client.ts';
import { newestJoin, personName } from '../../session/person.ts';
import type { Deps } from '../deps.ts';
import { peopleBy } from '../findJoins.ts';
import { expiryOf, stateOf } from './invitations.ts';

/** Which invitations are asked for: all that is given. */
export interface InvitationFilter {
  /** A code, whom it is for (any part of a name or email, a contact id), a school or a campaign. */
  text?: string | undefined;
  school?: string | undefined;
  programme?: string | undefined;
  campaign?: string | undefined;
  state?: InvitationState | undefined;
  /** Those whose last day is this day (YYYY-MM-DD) or before. */
  lastDay?: string | undefined;
}

export interface FoundInvitation {
  code: string;
  personId: number | null;
  /** Of the person; null if it is for a school, or not known. */
  name: string | null;
  school: string | null;
  programme: string | null;
  campaign: string | null;
  expiresAt: Date | null;
  state: InvitationState;
}

/** Where a list of invitations goes on: after this time (µs) and code. */
export interface InvitationCursor {
  micros: string;
  code: string;
}

/** How many invitations one statement looks at, whatever it looks for. */
export const MOST_READ = 5_000;

/**
 * Finds invitations, the latest first, at most `most`. Looks at {@link MOST_READ} at most: where a filter has no index, that may be
 * fewer than there are, and then `searchedTo` is when the last that was looked at was made, and `next` goes on from there.
 */
export async function searchInvitations(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  filter: InvitationFilter,
  { most, after }: { most: number; after: InvitationCursor | null },
): Promise<{ rows: FoundInvitation[]; next: InvitationCursor | null; searchedTo: Date | null }> {
  const { rows } = await sql<FoundInvitation & { micros: string | null } & Looked>`
    with ${lookedAt(filter, after, MOST_READ)}, fitting as (
      select * from looked invitation where ${fits(filter, society.society.timeZone)}
      order by created_at desc, code desc limit ${most + 1}
    )
    select ${howFar}, shown.*
    from ${total} left join lateral (
      select invitation.code, coalesce(person.merged_into, person.id) as "personId",
        case when person.id is not null then ${personName} end as name,
        coalesce(invitation.school, person.profile ->> 'schoolName') as school, invitation.programme, campaign,
        invitation.expires_at as "expiresAt", ${stateOf} as state, ${micros('invitation.created_at')} as micros, invitation.created_at
      from fitting invitation left join person on person.id = invitation.person_id ${newestJoin}
    ) as shown on true
    order by shown.created_at desc, shown.code desc`.execute(database);
  const found = rows.filter(({ micros }) => micros !== null);
  const page = found.slice(0, most);
  const last = page.at(-1);
  if (found.length > most && last)
    return { rows: page, next: { micros: last.micros!, code: last.code }, searchedTo: null };
  const next = furtherOf(rows[0]!, MOST_READ);
  return { rows: page, next, searchedTo: next && new Date(Number(next.micros) / 1000) };
}

/** How far a statement looked. */
interface Looked {
  read: number;
  /** Of the last invitation that was looked at; null if there was none. */
  lastMicros: string | null;
  lastCode: string | null;
}

/** Returns where to look further; null if the statement looked at all, of `most` at a time. */
function furtherOf({ read, lastMicros, lastCode }: Looked, most: number): InvitationCursor | null {
  return read < most || lastMicros === null ? null : { micros: lastMicros, code: lastCode! };
}

/** Whether there are any invitations. */
export async function hasInvitations(database: Database): Promise<boolean> {
  const { rows } = await sql`select from invitation where code > '' order by code limit 1`.execute(database);
  return rows.length > 0;
}

const micros = (time: string) => sql<string>`(extract(epoch from ${sql.raw(time)}) * 1000000)::bigint::text`;

/** SQL for a {@link Looked}, of {@link total}. */
const howFar = sql`total.read, ${micros('total.at')} as "lastMicros", total.code as "lastCode"`;
const total = sql`(select count(*)::int as read, (array_agg(created_at order by created_at, code))[1] as at,
  (array_agg(code order by created_at, code))[1] as code from looked) as total`;

/**
 * SQL for `looked`: what one index has for a filter, the latest first, at most `most` after a cursor. Of several filters one is looked up,
 * and the others are left to {@link fits}: so what comes after the last of `looked` is never left out.
 */
function lookedAt(
  { text, school, programme, campaign, state }: InvitationFilter,
  after: InvitationCursor | null,
  most: number,
): RawBuilder<unknown> {
  const from = after
    ? sql`'epoch'::timestamptz + ${after.micros}::bigint * interval '1 microsecond', ${after.code}`
    : sql`'infinity'::timestamptz, ''`;
  const latest = sql`(created_at, code) < (${from}) order by created_at desc, code desc limit ${sql.lit(most)}`;
  const among = (ways: RawBuilder<boolean>[]) =>
    sql`code = any(array(${sql.join(
      ways.map((way) => sql`(select code from invitation where ${way} and ${latest})`),
      sql` union all `,
    )}))`;
  const conditions = [
    ...(programme === undefined ? [] : [sql`programme = ${programme}`]),
    ...(campaign === undefined ? [] : [sql`campaign = ${campaign}`]),
    ...(state === 'withdrawn' ? [sql`is_withdrawn`] : []),
    sql`true`,
  ];
  const where =
    text !== undefined
      ? among(waysByText(text))
      : school !== undefined
        ? among(waysBySchool(school))
        : sql.join(conditions, sql` and `);
  return sql`looked as materialized (select * from invitation where ${where} and ${latest})`;
}

function waysByText(text: string): RawBuilder<boolean>[] {
  return [
    sql`code = ${normaliseInviteCode(text)}`,
    sql`person_id = any(array(${sql.join(peopleBy(text), sql` union `)}))`,
    sql`campaign = ${text}`,
    ...waysBySchool(text),
  ];
}

function waysBySchool(school: string): RawBuilder<boolean>[] {
  const name = school.toLowerCase();
  return [
    sql`lower(school) = ${name}`,
    sql`person_id = any(array(
      select id from person where lower(profile ->> 'schoolName') = ${name} and profile ->> 'schoolName' is not null))`,
  ];
}

/** SQL for whether the query's `invitation`, which was found by an index, fits the rest of a filter. */
function fits(
  { text, school, programme, campaign, state, lastDay }: InvitationFilter,
  timeZone: string,
): RawBuilder<boolean> {
  const name = school?.toLowerCase();
  return sql<boolean>`${sql.join(
    [
      ...(text === undefined || name === undefined
        ? []
        : [
            sql`(lower(invitation.school) = ${name} or exists (
              select from person where id = invitation.person_id and lower(profile ->> 'schoolName') = ${name}))`,
          ]),
      ...(programme === undefined ? [] : [sql`programme = ${programme}`]),
      ...(campaign === undefined ? [] : [sql`campaign = ${campaign}`]),
      ...(state === undefined ? [] : [sql`${stateOf} = ${state}`]),
      ...(lastDay === undefined ? [] : [sql`expires_at <= ${expiryOf(sql`${lastDay}::text`, timeZone)}`]),
      sql`true`,
    ],
    sql` and `,
  )}`;
}

/** The most codes that are changed at once. */
export const MOST_CHANGED = 100_000;
/** How many invitations one statement looks at if only their codes are asked for. */
const MOST_READ_FOR_CODES = 25_000;

/** Returns all codes that a filter finds, or null if they are more than {@link MOST_CHANGED}. */
export async function codesFor(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  filter: InvitationFilter,
): Promise<string[] | null> {
  const codes: string[] = [];
  let after: InvitationCursor | null = null;
  do {
    const { rows } = await sql<{ codes: string[] } & Looked>`
      with ${lookedAt(filter, after, MOST_READ_FOR_CODES)}
      select ${howFar}, array(
        select code from looked invitation where ${fits(filter, society.society.timeZone)}
        order by created_at desc, code desc) as codes
      from ${total}`.execute(database);
    codes.push(...rows[0]!.codes);
    if (codes.length > MOST_CHANGED) return null;
    after = furtherOf(rows[0]!, MOST_READ_FOR_CODES);
  } while (after);
  return codes;
}
