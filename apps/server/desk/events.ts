import { sql } from 'kysely';
import type { Deps } from './deps.ts';
import type { Staff } from './links.ts';

/** What somebody did at the desk. Names nobody but staff. */
export interface StaffEvent {
  /** Null: somebody who is not signed in. */
  staff: Staff | null;
  /** The call's name. */
  action: string;
  /** What it was about: a person's number, a payment, a document. */
  subject?: string | undefined;
  outcome: 'done' | 'refused' | 'failed';
}

/** Records for good what a member of staff did. What strangers try is not recorded, so that they cannot fill the table. */
export async function noteEvent(
  { database }: Pick<Deps, 'database'>,
  { staff, action, subject, outcome }: StaffEvent,
): Promise<void> {
  if (staff === null) return;
  await sql`
    insert into staff_event (staff_id, name, action, subject, outcome)
    values (${staff.id}, ${staff.name}, ${action}, ${subject ?? null}, ${outcome})`.execute(database);
}

/** Which of what staff did is asked for. `day` is of the society's time zone. */
export interface EventFilter {
  name?: string | undefined;
  action?: string | undefined;
  day?: string | undefined;
}

/** What a member of staff did, about anything. The subject "staff 4" is shown with the name: "staff Kim Lee". */
export type EventListed = EventShown & { id: string; subject: string | null };

/** Returns what staff did, the latest first, from an id on downwards. `more`: there are earlier ones. */
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

/** What a member of staff did about somebody. */
export interface EventShown {
  at: Date;
  name: string | null;
  action: string;
  outcome: StaffEvent['outcome'];
}

/** Returns what staff did about persons, by their numbers, the oldest first. */
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
