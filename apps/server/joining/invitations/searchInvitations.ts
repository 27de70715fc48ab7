import { type RawBuilder, sql } from 'kysely';
import type { InvitationState } from '#core/invitation.ts';
import { normaliseInviteCode } from '#core/inviteCode.ts';
import type { Database } from '../../platform/database/client.ts';
import { newestJoin, personName } from '../../session/person.ts';
import type { Deps } from '../deps.ts';
import { peopleBy } from '../findJoins.ts';
import { expiryOf, stateOf } from './invitations.ts';

/** A filter for invitations, which must match all given fields. */
export interface InvitationFilter {
  /** A code, a person (any part of a name or email, or a contact id), a school or a campaign. */
  text?: string | undefined;
  school?: string | undefined;
  programme?: string | undefined;
  campaign?: string | undefined;
  state?: InvitationState | undefined;
  /** Matches invitations whose last day is this day (YYYY-MM-DD) or earlier. */
  lastDay?: string | undefined;
}

export interface FoundInvitation {
  code: string;
  personId: number | null;
  /** The person's name; null if it is unknown, or if the code is a school's. */
  name: string | null;
  school: string | null;
  programme: string | null;
  campaign: string | null;
  expiresAt: Date | null;
  state: InvitationState;
}

/** The cursor of a list of invitations: the time (µs) at which the last one was made, and its code. */
export interface InvitationCursor {
  micros: string;
  code: string;
}

/** The most invitations that one call of {@link searchInvitations} reads, whatever the filter. */
export const MOST_READ = 5_000;

/**
 * Finds invitations, the latest first, at most `most`. Reads at most {@link MOST_READ}, so that a search by a filter without an
 * index may be incomplete. Then `searchedTo` is the time at which the last invitation that was read was made, and `next`
 * continues from there.
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

/** How many invitations a statement has read, and the last of them. */
interface Looked {
  read: number;
  /** When the last invitation that was read was made (µs); null if none was read. */
  lastMicros: string | null;
  lastCode: string | null;
}

/**
 * Returns the cursor for the next statement; null if this statement, which reads at most `most` invitations, has reached the end.
 */
function furtherOf({ read, lastMicros, lastCode }: Looked, most: number): InvitationCursor | null {
  return read < most || lastMicros === null ? null : { micros: lastMicros, code: lastCode! };
}

/** Whether there are any invitations. */
export async function hasInvitations(database: Database): Promise<boolean> {
  const { rows } = await sql`select from invitation where code > '' order by code limit 1`.execute(database);
  return rows.length > 0;
}

const micros = (time: string) => sql<string>`(extract(epoch from ${sql.raw(time)}) * 1000000)::bigint::text`;

/** SQL for the columns of a {@link Looked}, from {@link total}. */
const howFar = sql`total.read, ${micros('total.at')} as "lastMicros", total.code as "lastCode"`;
const total = sql`(select count(*)::int as read, (array_agg(created_at order by created_at, code))[1] as at,
  (array_agg(code order by created_at, code))[1] as code from looked) as total`;

/**
 * SQL for `looked`: the invitations that an index finds for a filter, the latest first, at most `most` after a cursor. The index
 * covers only a part of the filter, and {@link fits} checks the rest. The last row of `looked` is therefore a cursor after which
 * nothing is missed.
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

/** SQL for whether the query's `invitation`, which was found by an index, matches the rest of a filter. */
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
/** The most invitations that one statement reads if only their codes are needed. */
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
