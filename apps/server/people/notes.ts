import { type RawBuilder, sql } from 'kysely';
import type { ByStaff } from '../platform/deps.ts';
import { presentPerson } from '../session/members.ts';
import type { Deps } from './deps.ts';

/** A note about a person by a member of staff. */
export interface PersonNote {
  id: number;
  at: Date;
  /** Null once it is removed. */
  text: string | null;
  by: string;
  removedBy: string | null;
  removedAt: Date | null;
}

/**
 * Adds a note about a person or, if they were merged, about the person they were merged into. Returns whether there is such a
 * person.
 */
export async function addNote(
  { database, actor }: Pick<ByStaff<Deps>, 'database' | 'actor'>,
  personId: number,
  text: string,
): Promise<boolean> {
  // The lock keeps an erasure of the person from missing the note.
  const { rows } = await sql`
    insert into person_note (person_id, text, written_by)
    select id, ${text}, ${actor} from (
      select id from person where id = ${presentPerson(sql`${personId}::bigint`)} and erased_at is null for key share) as present
    returning id`.execute(database);
  return rows.length > 0;
}

/** Returns a note; null if there is none. */
export async function readNote(
  { database }: Pick<Deps, 'database'>,
  noteId: number,
): Promise<PersonNote | null> {
  const { rows } = await selectNotes(sql`id = ${noteId}`).execute(database);
  return rows[0] ?? null;
}

/** Removes the text of a note. Its author and time stay. Returns whether there was a text to remove. */
export async function removeNote(
  { database, actor }: Pick<ByStaff<Deps>, 'database' | 'actor'>,
  noteId: number,
): Promise<boolean> {
  const { rows } = await sql`
    update person_note set text = null, removed_by = ${actor}, removed_at = now()
    where id = ${noteId} and removed_at is null returning id`.execute(database);
  return rows.length > 0;
}

/** Returns the notes of persons, the oldest first. */
export async function notesOf(
  { database }: Pick<Deps, 'database'>,
  persons: readonly number[],
): Promise<PersonNote[]> {
  const { rows } = await selectNotes(sql`person_id = any(${persons}::bigint[])`).execute(database);
  return rows;
}

const selectNotes = (which: RawBuilder<unknown>) => sql<PersonNote>`
  select id, created_at as at, text, written_by as by, removed_by as "removedBy", removed_at as "removedAt"
  from person_note where ${which} order by created_at, id`;
