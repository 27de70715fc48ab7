import { sql } from 'kysely';
import { StillTelling, tellingHubspotNothing } from '../../crm/fence.ts';
import type { Database } from '../../platform/database/client.ts';
import { emailsOfWords } from '../../session/words.ts';
import type { Deps } from '../deps.ts';
import { eraseJoins } from './eraseJoins.ts';
import {
  erasePersons,
  forgetEmails,
  forgetNotices,
  namesOf,
  noteErasure,
  prepare,
  restoredOf,
} from './erasePerson.ts';
import { emailHasher } from './findPerson.ts';
import { type JournalEntry, readJournal } from './journal.ts';
import { filesAtHubspot, keepIds } from './leftAtHubspot.ts';
import { reasonOf } from './stoppedErasing.ts';

/** The result of repeating a journal's erasures. */
export interface AppliedJournal {
  /** How many erasures the journal has, and how many of them had to be repeated. */
  entries: number;
  again: number;
  /** Sentences about lines of the journal that could not be read. */
  faults: string[];
  /** A sentence about a last line that was cut off; null if there is none. */
  unfinished: string | null;
  /** Why entries could not be applied. */
  refused: string[];
}

/**
 * Repeats the journal's erasures in this database, which was restored from a backup. Payments since the backup must have been
 * made again before (`settleMissing`). Applies the entries that can be applied. Returns null if there is no journal at the path.
 */
export async function applyJournal(deps: Deps, path: string): Promise<AppliedJournal | null> {
  const journal = await readJournal(path);
  if (journal === null) return null;
  const { entries, faults, unfinished } = journal;
  const emails = await emailsByHash(deps.database);
  let again = 0;
  const refused: string[] = [];
  for (const entry of entries) {
    try {
      const known = entry.emails.flatMap((hash) => emails.get(hash) ?? []);
      if (await tellingHubspotNothing(deps.database, () => applyEntry(deps, entry, known))) again++;
    } catch (error) {
      const reason = error instanceof StillTelling ? error.message : reasonOf(error);
      if (reason === null) throw error;
      refused.push(reason);
    }
  }
  return { entries: entries.length, again, faults, unfinished, refused };
}

/** Returns all emails in the database by their keyed hash (hex), since the journal has only hashes. */
async function emailsByHash(database: Database): Promise<Map<string, string>> {
  const { rows } = await sql<{ email: string }>`
    select lower(email) as email from letter union select lower(receipt_email) from payment
    union select lower(email) from pass_request union select lower(email) from person
    union select unnest(${emailsOfWords}) from person
    union select lower(btrim(given)) from join_session,
      lateral (values (details ->> 'personalEmail'), (details ->> 'schoolEmail')) as emails (given)`.execute(
    database,
  );
  const hash = await emailHasher(database);
  return new Map(rows.filter(({ email }) => email).map(({ email }) => [hash(email).toString('hex'), email]));
}

/**
 * Erases the joins and contacts of one entry, and forgets `emails` elsewhere: those of the entry's emails that this database has.
 * Returns whether there was anything to erase. Data newer than the entry are kept: the person may have joined again, or the
 * mirror may have read a contact from HubSpot that was erased only here.
 */
async function applyEntry(
  deps: Deps,
  { at, emails: hashed, ...ids }: JournalEntry,
  emails: readonly string[],
): Promise<boolean> {
  const hashes = hashed.map((hash) => Buffer.from(hash, 'hex'));
  const before = new Date(at);
  const left = await restoredOf(deps.database, ids, before);
  await prepare(deps, left.joins);
  const elsewhere = await deps.database.transaction().execute(async (trx) => {
    const names = await namesOf(trx, left);
    // Stores the ids of the person's contacts and files in HubSpot. The journal does not say whether HubSpot has already deleted
    // these contacts and files; if so, the stored ids do no harm.
    await keepIds(trx, hashes, { contacts: left.contacts, files: await filesAtHubspot(trx, left) });
    await eraseJoins(trx, deps, left.joins);
    await erasePersons(trx, deps, left.persons, before);
    const notices = await forgetNotices(trx, [...emails, ...names], before);
    const rows = await forgetEmails(trx, emails, before);
    await noteErasure(trx, hashes, before);
    return notices + rows;
  });
  return left.joins.length + left.persons.length + elsewhere > 0;
}
