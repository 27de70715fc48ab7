import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { plain } from '../platform/command.ts';
import { eraseJoins, NotErasable } from './eraseJoins.ts';
import { eraseContacts, noteErasure, prepare } from './erasePerson.ts';
import { type JournalEntry, readJournal } from './journal.ts';
import { filesAtHubspot, keepIds } from './leftAtHubspot.ts';

/**
 * Erases in this database, which was restored from a backup, what the journal says was erased. Money goes first: `settle --missing`
 * before. Returns the exit status: 1 when a line could not be applied, which is told; the others are.
 */
export async function applyJournal(deps: Deps, path: string): Promise<number> {
  let entries: JournalEntry[] | null;
  try {
    entries = await readJournal(path);
  } catch (error) {
    console.error(plain((error as Error).message));
    return 1;
  }
  if (entries === null) {
    console.error(`There is no journal at ${path}.`);
    return 1;
  }
  let again = 0;
  let refused = 0;
  for (const entry of entries) {
    try {
      if (await applyEntry(deps, entry)) again++;
    } catch (error) {
      if (!(error instanceof NotErasable)) throw error;
      console.error(error.message);
      refused++;
    }
  }
  console.log(`${entries.length} erasures in the journal, ${again} made again, ${refused} refused.`);
  return refused > 0 ? 1 : 0;
}

/** Whether the database still had something of it. */
async function applyEntry(deps: Deps, { at, email, joins, contacts }: JournalEntry): Promise<boolean> {
  const { rows } = await sql<{ joins: string[]; contacts: string[] }>`
    select array(select uuid::text from join_session where uuid::text = any(${joins}) and erased_at is null) as joins,
      array(select id from contact where id = any(${contacts}) and (deleted_at is null or profile <> '{}')) as contacts`.execute(
    deps.database,
  );
  const left = rows[0]!;
  await prepare(deps, left.joins);
  await deps.database.transaction().execute(async (trx) => {
    const hash = Buffer.from(email, 'hex');
    // Whether HubSpot was told is not known here: ids that lead to nothing do no harm.
    await keepIds(trx, hash, { contacts: left.contacts, files: await filesAtHubspot(trx, left) });
    await eraseJoins(trx, deps, left.joins);
    await eraseContacts(trx, deps, left.contacts);
    await noteErasure(trx, hash, new Date(at));
  });
  return left.joins.length + left.contacts.length > 0;
}
