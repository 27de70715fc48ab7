import { sql } from 'kysely';
import { StillTelling, tellingHubspotNothing } from '../contacts/fence.ts';
import type { Deps } from '../deps.ts';
import { eraseJoins } from './eraseJoins.ts';
import { contactsOf, eraseContacts, noteErasure, prepare } from './erasePerson.ts';
import { type JournalEntry, readJournal } from './journal.ts';
import { filesAtHubspot, keepIds } from './leftAtHubspot.ts';
import { reasonOf } from './stoppedErasing.ts';

/**
 * Erases in this database, which was restored from a backup, what the journal says was erased. Run `settle --missing` before it, so
 * that money comes first. Returns the exit status: 1 when an entry could not be applied, which is printed; the others are applied.
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
 * Erases what one entry names. Returns whether the database still had any of that. What came after the entry stays: its person may
 * have joined again, and HubSpot, if it was not asked to erase the contact, may have sent it again.
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
    // Whether HubSpot was asked to erase is not known here. Ids that HubSpot no longer has do no harm.
    await keepIds(trx, hash, { contacts: left.contacts, files: await filesAtHubspot(trx, left) });
    await eraseJoins(trx, deps, left.joins);
    await eraseContacts(trx, deps, left.contacts, before);
    await noteErasure(trx, hash, before);
  });
  return left.joins.length + left.contacts.length > 0;
}
