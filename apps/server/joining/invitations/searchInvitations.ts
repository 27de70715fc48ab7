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
  const from = after
    ? sql`'epoch'::timestamptz + ${after.micros}::bigint * interval '1 microsecond', ${after.code}`
    : sql`'infinity'::timestamptz, ''`;
  const { rows } = await sql<
    FoundInvitation & { micros: string | null; read: number; lastMicros: string | null; lastCode: string }
  >`
    with looked as materialized (
      select * from invitation where ${byIndex(filter)} and (created_at, code) < (${from}) order by created_at desc, code desc limit ${sql.lit(MOST_READ)}
    ), fitting as (
      select * from looked invitation where ${withoutIndex(filter, society.society.timeZone)}
      order by created_at desc, code desc limit ${most + 1}
    )
    select total.read, ${micros('total.at')} as "lastMicros", total.code as "lastCode", shown.*
    from (select count(*)::int as read, (array_agg(created_at order by created_at, code))[1] as at,
      (array_agg(code order by created_at, code))[1] as code from looked) as total
    left join lateral (
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
  const { read, lastMicros, lastCode } = rows[0]!;
  if (read < MOST_READ || lastMicros === null) return { rows: page, next: null, searchedTo: null };
  return {
    rows: page,
    next: { micros: lastMicros, code: lastCode },
    searchedTo: new Date(Number(lastMicros) / 1000),
  };
}

/** Whether there are any invitations. */
export async function hasInvitations(database: Database): Promise<boolean> {
  const { rows } = await sql`select from invitation where code > '' order by code limit 1`.execute(database);
  return rows.length > 0;
}

const micros = (time: string) => sql<string>`(extract(epoch from ${sql.raw(time)}) * 1000000)::bigint::text`;

/** SQL for what of a filter has an index. */
function byIndex({ text, school, programme, campaign, state }: InvitationFilter): RawBuilder<boolean> {
  const conditions = [
    ...(text === undefined ? [] : [among(codesBy(text))]),
    ...(school === undefined ? [] : [among(codesOfSchool(school))]),
    ...(programme === undefined ? [] : [sql`programme = ${programme}`]),
    ...(campaign === undefined ? [] : [sql`campaign = ${campaign}`]),
    ...(state === 'withdrawn' ? [sql`is_withdrawn`] : []),
  ];
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** SQL for the rest of a filter, of the query's `invitation`. */
function withoutIndex({ state, lastDay }: InvitationFilter, timeZone: string): RawBuilder<boolean> {
  return sql<boolean>`${state === undefined ? sql`true` : sql`${stateOf} = ${state}`}
    and ${lastDay === undefined ? sql`true` : sql`expires_at <= ${expiryOf(sql`${lastDay}::text`, timeZone)}`}`;
}

/** SQL for whether a code is among those of queries, each of which has an index and a limit. */
const among = (queries: RawBuilder<unknown>[]) =>
  sql`code = any(array(${sql.join(queries, sql` union all `)}))`;

function codesBy(text: string): RawBuilder<unknown>[] {
  return [
    sql`select code from invitation where code = ${normaliseInviteCode(text)}`,
    sql`(select code from invitation where person_id = any(array(${sql.join(peopleBy(text), sql` union `)})) limit ${sql.lit(MOST_READ)})`,
    sql`(select code from invitation where campaign = ${text} order by created_at desc, code desc limit ${sql.lit(MOST_READ)})`,
    ...codesOfSchool(text),
  ];
}

function codesOfSchool(school: string): RawBuilder<unknown>[] {
  const name = school.toLowerCase();
  return [
    sql`(select code from invitation where lower(school) = ${name} order by created_at desc, code desc limit ${sql.lit(MOST_READ)})`,
    sql`(select code from invitation where person_id = any(array(
      select id from person where lower(profile ->> 'schoolName') = ${name} and profile ->> 'schoolName' is not null limit ${sql.lit(MOST_READ)}))
      limit ${sql.lit(MOST_READ)})`,
  ];
}

/** The most codes that are changed at once. */
export const MOST_CHANGED = 100_000;

/** Returns all codes that a filter finds, or null if they are more than {@link MOST_CHANGED}. */
export async function codesFor(
  deps: Pick<Deps, 'database' | 'society'>,
  filter: InvitationFilter,
): Promise<string[] | null> {
  const codes: string[] = [];
  let after: InvitationCursor | null = null;
  do {
    const page: Awaited<ReturnType<typeof searchInvitations>> = await searchInvitations(deps, filter, {
      most: MOST_READ,
      after,
    });
    codes.push(...page.rows.map(({ code }) => code));
    if (codes.length > MOST_CHANGED) return null;
    after = page.next;
  } while (after);
  return codes;
}
