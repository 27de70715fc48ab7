import { sql } from 'kysely';
import type { Deps } from './deps.ts';
import type { Staff } from './links.ts';

/** An action of a member of staff at the desk. Contains no names except those of staff. */
export interface StaffEvent {
  /** Null if the caller is not signed in. */
  staff: Staff | null;
  /** The call's name. */
  action: string;
  /** What the action was about, such as a person's number, a payment or a document. */
  subject?: string | undefined;
  outcome: 'done' | 'refused' | 'failed';
}

/**
 * Records an action of a member of staff permanently. Actions of callers who are not signed in are not recorded, so that they
 * cannot fill the table.
 */
export async function noteEvent(
  { database }: Pick<Deps, 'database'>,
  { staff, action, subject, outcome }: StaffEvent,
): Promise<void> {
  if (staff === null) return;
  await sql`
    insert into staff_event (staff_id, name, action, subject, outcome)
    values (${staff.id}, ${staff.name}, ${action}, ${subject ?? null}, ${outcome})`.execute(database);
}

/** Selects recorded actions. `day` is a day in the society's time zone. */
export interface EventFilter {
  name?: string | undefined;
  action?: string | undefined;
  day?: string | undefined;
}

/**
 * A recorded action with its subject. If the subject is a member of staff, it contains their name: "staff Kim Lee" instead of
 * "staff 4".
 */
export type EventListed = EventShown & { id: string; subject: string | null };

/** Returns recorded actions, latest first, with ids lower than `before` (null: all). `more`: there are earlier ones. */
export async function searchEvents(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  { name, action, day }: EventFilter,
  { most, before }: { most: number; before: string | null },
): Promise<{ rows: EventListed[]; more: boolean }> {
  const zone = society.society.timeZone;
  const { rows } = await sql<EventListed>`
    select staff_event.id::text, at, staff_event.name, action, coalesce('staff ' || staff.name, subject) as subject, outcome
    from staff_event left join staff on subject = 'staff ' || staff.id
    where (${before}::bigint is null or staff_event.id < ${before}::bigint)
      and (${name ?? null}::text is null or staff_event.name = ${name ?? null})
      and (${action ?? null}::text is null or action = ${action ?? null})
      and (${day ?? null}::date is null
        or at >= (${day ?? null}::date)::timestamp at time zone ${zone}
        and at < (${day ?? null}::date + 1)::timestamp at time zone ${zone})
    order by staff_event.id desc limit ${most + 1}`.execute(database);
  return { rows: rows.slice(0, most), more: rows.length > most };
}

/** A recorded action, without its subject. */
export interface EventShown {
  at: Date;
  name: string | null;
  action: string;
  outcome: StaffEvent['outcome'];
}

/** Returns the recorded actions about these persons, oldest first. */
export async function eventsAbout(
  { database }: Pick<Deps, 'database'>,
  persons: readonly number[],
): Promise<EventShown[]> {
  const { rows } = await sql<EventShown>`
    select at, name, action, outcome from staff_event where subject = any(${persons.map(String)}::text[]) order by at, id`.execute(
    database,
  );
  return rows;
}
