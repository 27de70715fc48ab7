import { type RawBuilder, sql } from 'kysely';
import { type Funnel, funnelSteps, type NumberKey } from '#core/funnel.ts';
import type { Deps } from './deps.ts';

/**
 * The numbers of a period, one row for each key. A null key is for joins or invitations that have none. Days are ISO days of the
 * society's time zone.
 */
export interface Numbers {
  rows: (Funnel & { key: string | null })[];
  /** The sums of all rows, including those that are left out. */
  total: Funnel;
}

/** A period of more days than this counts as long, with many joins. */
const LONG_DAYS = 100;

/**
 * Returns the numbers of a period: from one day to another, both included. Returns at most `most` rows (all if null), those with
 * the most joins first. By day, returns all rows, the earliest first.
 */
export async function readNumbers(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  { from, to, by }: { from: string; to: string; by: NumberKey },
  most: number | null,
): Promise<Numbers> {
  const zone = society.society.timeZone;
  const isWithin = (at: RawBuilder<unknown>) => within(at, { from, to, zone });
  const dayOf = (at: RawBuilder<unknown>) => sql`(${at} at time zone ${zone})::date`;
  // Formatting a date takes longer than computing it, so only the rows of the answer are formatted.
  const written = by === 'day' ? sql`to_char(key, 'YYYY-MM-DD')` : sql`coalesce(key, '')`;
  const allDays = sql`union all select day::date, 0 from generate_series(${from}::date, ${to}::date, interval '1 day') day`;
  const keys = {
    day: dayOf(sql`created_at`),
    programme: sql`programme`,
    school: sql`coalesce(school, details ->> 'highSchoolName')`,
    campaign: sql`(select campaign from invitation where code = invitation_code)`,
  };
  // For the many joins of a long period, it is faster to read all documents in one step.
  const isLong = Date.parse(to) - Date.parse(from) > LONG_DAYS * 86_400_000;
  const proofs = isLong
    ? {
        accepted: sql`count(accepted.session_uuid) filter (where state = 'paid')`,
        beside: sql`left join (select distinct session_uuid from document where review = 'accepted') accepted on session_uuid = uuid`,
      }
    : {
        accepted: sql`count(case when state = 'paid' then (
          select 1 from document where session_uuid = uuid and review = 'accepted' limit 1) end)`,
        beside: sql``,
      };
  const { rows } = await sql<Funnel & { key: string }>`
    with counted as (
      select key, sum(count)::int as invited from (
        select ${by === 'day' ? dayOf(sql`made_at`) : sql.ref(by)} as key, count from invitation_count where ${isWithin(sql`made_at`)}
        ${by === 'day' ? allDays : sql``}) made
      group by 1
    ),
    came as (
      select ${keys[by]} as key, count(*)::int as started,
        count(*) filter (where state <> 'started')::int as details,
        count(*) filter (where state in ('ordering', 'paying', 'paid'))::int as membership,
        count(*) filter (where state = 'paid')::int as paid,
        count(*) filter (where upgrade = 'taken')::int as upgraded,
        ${proofs.accepted}::int as "proofAccepted"
      from join_session ${proofs.beside} where ${isWithin(sql`join_session.created_at`)}
      group by 1
    ),
    invited as (select ${written} as key, invited from counted ${by === 'day' ? sql`` : sql`where invited <> 0`}),
    joined as (select ${written} as key, started, details, membership, paid, upgraded, "proofAccepted" from came)
    select key, coalesce(invited, 0) as invited, coalesce(started, 0) as started, coalesce(details, 0) as details,
      coalesce(membership, 0) as membership, coalesce(paid, 0) as paid, coalesce(upgraded, 0) as upgraded,
      coalesce("proofAccepted", 0) as "proofAccepted"
    from invited full join joined using (key) order by key`.execute(database);
  const shown = by === 'day' ? rows : mostJoined(rows).slice(0, most ?? undefined);
  return { rows: shown.map(({ key, ...row }) => ({ key: key || null, ...row })), total: totalOf(rows) };
}

function mostJoined<Row extends Funnel>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => other.started - one.started || other.invited - one.invited);
}

function totalOf(rows: readonly Funnel[]): Funnel {
  return Object.fromEntries(
    funnelSteps.map((step) => [step, rows.reduce((sum, row) => sum + row[step], 0)]),
  ) as unknown as Funnel;
}

/** Returns how many joins began and how many were paid on each day of a period. Leaves out days without any. */
export async function joinsByDay(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  { from, to }: { from: string; to: string },
): Promise<{ day: string; begun: number; paid: number }[]> {
  const zone = society.society.timeZone;
  // Counts day by day from the index alone, which is many times faster than computing the day of each join.
  const counted = (at: 'created_at' | 'paid_at') => sql`(
    select count(*)::int from join_session where ${sql.ref(at)} >= day::timestamp at time zone ${zone}
      and ${sql.ref(at)} < (day + 1)::timestamp at time zone ${zone})`;
  const { rows } = await sql<{ day: string; begun: number; paid: number }>`
    select to_char(day, 'YYYY-MM-DD') as day, ${counted('created_at')} as begun, ${counted('paid_at')} as paid
    from (select day::date from generate_series(${from}::date, ${to}::date, interval '1 day') day) days order by days.day`.execute(
    database,
  );
  return rows.filter(({ begun, paid }) => begun + paid > 0);
}

/** SQL for whether a time is on one of the days of a period in a time zone. */
function within(at: RawBuilder<unknown>, { from, to, zone }: { from: string; to: string; zone: string }) {
  return sql`
    ${at} >= (${from}::date)::timestamp at time zone ${zone} and ${at} < (${to}::date + 1)::timestamp at time zone ${zone}`;
}
