import { sql } from 'kysely';
import { membersSentence } from '#core/importDoubts.ts';
import { type Holdings, isMember } from '#core/people.ts';
import type { Database } from '../../platform/database/client.ts';
import { holdings, holdsBought } from '../../session/members.ts';

const BATCH = 1000;

/** Returns those of the contacts that are members, so that their invite codes are refused. */
export async function membersAmong(database: Database, contactIds: readonly string[]): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set();
  const { rows } = await sql<{ contact_id: string; holdings: Holdings }>`
    select contact_id, ${holdings('person.id')} as holdings from person
    where contact_id = any(${contactIds}::text[]) and (is_member or ${holdsBought('person.id', 'membership')})`.execute(
    database,
  );
  return new Set(
    rows.filter(({ holdings }) => isMember(holdings, 'code')).map(({ contact_id }) => contact_id),
  );
}

/** Counts the members among contacts that are added one by one. */
export function countMembers(database: Database) {
  let batch: string[] = [];
  let count = 0;
  let first: string | null = null;
  const look = async () => {
    const members = await membersAmong(database, batch);
    first ??= batch.find((id) => members.has(id)) ?? null;
    count += members.size;
    batch = [];
  };
  return {
    async add(contactId: string | undefined): Promise<void> {
      if (contactId !== undefined && batch.push(contactId) === BATCH) await look();
    },
    /** Returns the warning for staff; null if there is no member. */
    async warning(): Promise<string | null> {
      await look();
      return first === null ? null : membersSentence(count, first);
    },
  };
}
