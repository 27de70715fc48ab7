import { sql } from 'kysely';
import { StillTelling, tellingHubspotNothing } from '../contacts/fence.ts';
import type { Deps } from '../deps.ts';
import { eraseJoins } from './eraseJoins.ts';
import { contactsOf, eraseContacts, noteErasure, prepare } from './erasePerson.ts';
import { type JournalEntry, readJournal } from './journal.ts';
import { filesAtHubspot, keepIds } from './leftAtHubspot.ts';
import { reasonOf } from './stoppedErasing.ts';

/**
 * Erases in this database, which was restored from a backup, what the journal says was erased. Money goes first: `settle --missing`
 * before. Returns the exit status: 1 when a line could not be applied, which is told; the others are.
 */
export async function applyJournal(deps: Deps, path: string): Promise<number> {
  const journal = await readJournal(path);
  if (journal === null) {
    console.error(`There is no journal at ${path}.`);
    return 1;
  }
  const { entries, faults, unfinished } = journal;
  for (const sentence of [...faults, ...(unfinished === null ? [] : [unfinished])]) console.error(sentence);
  let again = 0;
  let refused = 0;
  for (const entry of entries) {
    try {
      if (await tellingHubspotNothing(deps.database, () => applyEntry(deps, entry))) again++;
    } catch (error) {
      const reason = error instanceof StillTelling ? error.message : reasonOf(error);
      if (reason === null) throw error;
      console.error(reason);
      refused++;
    }
  }
  console.log(`${entries.length} erasures in the journal, ${again} made again, ${refused} refused.`);
  return refused + faults.length > 0 ? 1 : 0;
}

/**
 * Whether the database still had something of it. What came after it stays: its person may have joined anew, and HubSpot, where it was not
 * told, may have told of the contact again.
 */
async function applyEntry(deps: Deps, { at, email, joins, contacts }: JournalEntry): Promise<boolean> {
  const hash = Buffer.from(email, 'hex');
  const before = new Date(at);
  const { rows } = await sql<{ joins: string[] }>`
    select array(select uuid::text from join_session where uuid::text = any(${joins}) and erased_at is null) as joins`.execute(
    deps.database,
  );
  const left = { joins: rows[0]!.joins, contacts: await contactsOf(deps.database, contacts, before) };
  await prepare(deps, left.joins);
  await deps.database.transaction().execute(async (trx) => {
    // Whether HubSpot was told is not known here: ids that lead to nothing do no harm.
    await keepIds(trx, hash, { contacts: left.contacts, files: await filesAtHubspot(trx, left) });
    await eraseJoins(trx, deps, left.joins);
    await eraseContacts(trx, deps, left.contacts, before);
    await noteErasure(trx, hash, before);
  });
  return left.joins.length + left.contacts.length > 0;
}
