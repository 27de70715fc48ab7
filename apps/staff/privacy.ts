import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cleanEmail, plain } from '#core/cleanText.ts';
import { isEmail } from '#core/studentDetails.ts';
import { StillTelling } from '../server/crm/fence.ts';
import type { Deps } from '../server/deps.ts';
import { saveDocument } from '../server/documents/saveDocument.ts';
import { applyJournal } from '../server/people/privacy/applyJournal.ts';
import { tellStripe } from '../server/people/privacy/atStripe.ts';
import { count, counted } from '../server/people/privacy/counted.ts';
import { erasePerson, type PersonErased } from '../server/people/privacy/erasePerson.ts';
import { findPerson, type Person } from '../server/people/privacy/findPerson.ts';
import { journalPath } from '../server/people/privacy/journal.ts';
import type { AtHubspot } from '../server/people/privacy/leftAtHubspot.ts';
import { planErasure, type Unsent } from '../server/people/privacy/planErasure.ts';
import { pageOf, readPerson } from '../server/people/privacy/readPerson.ts';
import { openReceipt } from '../server/people/privacy/receiptFile.ts';
import {
  applyRetention,
  MOST,
  NotAllRemoved,
  overview,
  type Stage,
  stages,
} from '../server/people/privacy/retention.ts';
import { reasonOf, StoppedErasing } from '../server/people/privacy/stoppedErasing.ts';
import { Refusal } from '../server/platform/http/refusal.ts';
import { askPerson, type Command, misused, readArgs } from './command.ts';

const personEraseOptions = {
  hubspot: { type: 'boolean', default: false },
  to: { type: 'string' },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  again: { type: 'boolean', default: false },
} as const;

export const personEraseCommand: Command = {
  options: personEraseOptions,
  usage: 'person erase EMAIL [--hubspot] [--to FILE] [--yes | --dry-run] | --again [FILE]',
  summary:
    'Erase everything that names a person, here and at Stripe, when you agree (--yes: without asking; --dry-run: only shown), and with --hubspot at HubSpot, too. Money stays without the person. What went and what stays is told, and written to FILE. --again: after a restore, erase once more whom the journal of erasures names.',
  async run(args, { deps, hubspot }) {
    const read = readArgs(args, personEraseOptions);
    const [given, ...more] = read?.positionals ?? [];
    if (!read || more.length > 0) return misused(personEraseCommand);
    const { yes, to, again, 'dry-run': isTrial } = read.values;
    if (again)
      return yes || isTrial || to !== undefined || read.values.hubspot
        ? misused(personEraseCommand)
        : eraseAgain(deps, given ?? journalPath(deps));
    const email = cleanEmail(given ?? '');
    if (!isEmail(email) || (yes && isTrial)) return misused(personEraseCommand);

    const { person, isAsked, refusals, unsent } = await planErasure(deps, email);
    const rows = person.joins.length + person.contacts.length + person.requests;
    if (rows === 0 && !read.values.hubspot) {
      const { erasedAt, atHubspot } = person;
      console.log(
        erasedAt
          ? `Erased already, at ${erasedAt.toISOString()}. Nothing is left of them here.`
          : 'Induct has nothing of this email.',
      );
      if (countOf(atHubspot) > 0)
        console.log(
          `HubSpot may still have ${counted(atHubspot)} of theirs: the same command with --hubspot deletes them.`,
        );
      return erasedAt ? 0 : 1;
    }
    for (const line of refusals) console.error(line);
    if (refusals.length > 0) return 1;
    tellErasure(person, unsent, { withHubspot: read.values.hubspot, isAsked });
    if (isTrial) return 0;
    const file = to === undefined ? null : await openReceipt(to);
    if (typeof file === 'string') {
      console.error(`Nothing was erased: ${file}`);
      return 1;
    }
    if (!yes && !(await askPerson('Erase it?'))) {
      await file?.discard();
      console.log('Nothing was erased: say yes, or give --yes.');
      return 1;
    }
    let receipt: string;
    try {
      const erased = await erasePerson(deps, person, { hubspot: read.values.hubspot ? hubspot : null });
      receipt = receiptOf(deps, person, { unsent, isAsked }, erased);
    } catch (error) {
      await file?.discard();
      return tellStopped(error);
    }
    console.log(receipt);
    const fault = await file?.write(receipt);
    if (fault) console.error(`The person is erased, and ${fault} The receipt is the text above.`);
    return fault ? 1 : 0;
  },
};

/** Makes the erasures of a journal again. Returns the exit status: 1 if an entry was invalid or could not be applied. */
async function eraseAgain(deps: Deps, path: string): Promise<number> {
  const applied = await applyJournal(deps, path);
  if (applied === null) {
    console.error(`There is no journal at ${path}.`);
    return 1;
  }
  const { entries, again, faults, unfinished, refused } = applied;
  for (const sentence of [...faults, ...(unfinished === null ? [] : [unfinished]), ...refused])
    console.error(sentence);
  console.log(`${entries} erasures in the journal, ${again} made again, ${refused.length} refused.`);
  return refused.length + faults.length > 0 ? 1 : 0;
}

function tellStopped(error: unknown): number {
  if (error instanceof StillTelling) console.error(`Nothing was erased. ${error.message}`);
  else if (error instanceof StoppedErasing) {
    console.error(error.sentences);
    if (error.isFault) throw error.cause;
  } else throw error;
  return 1;
}

const countOf = ({ contacts, files }: AtHubspot) => contacts.length + files.length;

function tellErasure(
  { joins, contacts, others, ofOthers, erasedAt, atHubspot }: Person,
  unsent: readonly Unsent[],
  { withHubspot, isAsked }: { withHubspot: boolean; isAsked: boolean },
): void {
  const isNothing = joins.length + contacts.length + ofOthers === 0;
  if (erasedAt)
    console.log(
      `Erased before, at ${erasedAt.toISOString()}; ${isNothing ? 'nothing is left of them here.' : 'this came since:'}`,
    );
  for (const uuid of joins) console.log(`join ${uuid}`);
  for (const { uuid, goods } of unsent)
    console.log(
      `paid and not sent by join ${uuid}: ${plain(goods.join(', '))}. The address goes, so that it cannot be sent any more: send it before (npm run operator -- orders show ${uuid}), or give its money back.`,
    );
  for (const id of contacts) console.log(`contact ${id}${withHubspot ? ', at HubSpot too' : ''}`);
  if (withHubspot && countOf(atHubspot) > 0)
    console.log(`at HubSpot, left of an erasure before: ${counted(atHubspot)}`);
  for (const id of others)
    console.log(
      `stays: contact ${id}, which a join names and which has another email. Erase it by that one.`,
    );
  if (!isAsked)
    console.log(
      `HubSpot could not be asked whether it knows contact ${others.join(', ')} by this email. Better wait until it answers: afterwards nothing here leads to that contact.`,
    );
  if (ofOthers > 0) console.log(`the email itself, in ${rowsOfOthers(ofOthers)}. The joins stay.`);
}

const rowsOfOthers = (number: number) =>
  `${count(number, 'letter or payment', 'letters and payments')} of joins that have another one`;

/** Returns the receipt: what was erased, and what was kept and why. The receipt has no names, only ids of persons and joins. */
function receiptOf(
  deps: Deps,
  { others, ofOthers }: Person,
  { unsent, isAsked }: { unsent: readonly Unsent[]; isAsked: boolean },
  erased: PersonErased,
): string {
  const { gone, stripped, documents, letters, contacts, customers, money } = erased;
  const { atHubspot, othersAtHubspot, leftAtHubspot } = erased;
  return [
    `Erased at ${deps.now().toISOString()}.`,
    `Gone: ${count(gone + stripped, 'join')} with all that was given in ${gone + stripped === 1 ? 'it' : 'them'}, ${count(documents, 'document')}, ${count(letters, 'letter')}, ${count(contacts, 'contact')} of the mirror; invitations, links, notices and the story.`,
    `At Stripe: ${count(customers, 'customer')} with the cards that were kept, and the name that was noted with the payments.`,
    atHubspot
      ? `At HubSpot: ${counted(atHubspot)}.`
      : 'HubSpot was not asked (--hubspot): what it has stays, and the mirror takes it in again at the next sync.',
    ...(countOf(leftAtHubspot) > 0
      ? [
          `Stays: the ids of ${counted(leftAtHubspot)} at HubSpot, until the same command with --hubspot deletes them there.`,
        ]
      : []),
    ...(stripped > 0
      ? [
          `Stays: ${count(money, 'row')} of payments, refunds, orders and memberships, as law on bookkeeping and taxes asks, without name, email, address or card. ${count(stripped, 'join')} ${stripped === 1 ? 'stays' : 'stay'} as a row that names nobody. Member numbers are gone: /verify does not know them.`,
          'Stays at Stripe: the payments themselves with the email of the receipt and the billing details, which Stripe keeps as a payment service; a redaction job in its Dashboard takes them out of view. And its events of before, for 30 days.',
        ]
      : []),
    ...unsent.map(
      ({ uuid, goods }) =>
        `Paid by join ${uuid} and never sent: ${plain(goods.join(', '))}. The address is gone, and the money stays.`,
    ),
    ...(ofOthers > 0 ? [`Gone: the email itself, in ${rowsOfOthers(ofOthers)}. Stays: these joins.`] : []),
    ...others
      .filter((id) => !othersAtHubspot.includes(id))
      .map(
        (id) =>
          `Stays: contact ${id}, which has another email${isAsked ? '' : ' as far as is known: HubSpot could not be asked'}.`,
      ),
    ...othersAtHubspot.map(
      (id) =>
        `Stays: contact ${id}, which has another email in HubSpot, and theirs as an additional one: if it is another person's, take that email off it there; if it is theirs, erase it by its own.`,
    ),
    'Stays: a keyed hash of the email, in the list of erasures and, where reminders were stopped, in that list.',
    `Stays elsewhere: letters in mailboxes, backups until they are thrown away (after a restore: npm run operator -- person erase --again),${deps.config.storage.kind === 'folder' ? '' : ' noncurrent versions of documents in the bucket, if it has versioning, until its lifecycle rule removes them,'} and logs until they end.`,
  ].join('\n');
}

const personExportOptions = { to: { type: 'string' } } as const;

export const personExportCommand: Command = {
  options: personExportOptions,
  usage: 'person export EMAIL --to DIR',
  summary:
    'Write everything that Induct has about a person to a new or empty folder: a page to read, data.json, and their documents.',
  async run(args, { deps }) {
    const read = readArgs(args, personExportOptions);
    const [given = '', ...more] = read?.positionals ?? [];
    const email = cleanEmail(given);
    const to = read?.values.to;
    if (!to || !isEmail(email) || more.length > 0) return misused(personExportCommand);
    const person = await findPerson(deps, email);
    const { sections, documents } = await readPerson(deps, person);
    if (sections.length === 0) {
      console.error('Induct has nothing of this email.');
      return 1;
    }
    if (!(await isEmptyFolder(to))) {
      console.error(`${plain(to)} must be a new or an empty folder.`);
      return 1;
    }
    const about = { society: deps.society.society.name, email: person.email, at: deps.now() };
    const write = (name: string, text: string) =>
      writeFile(join(to, name), text, { flag: 'wx', mode: 0o600 });
    await write('index.html', pageOf(about, sections, documents));
    const data = Object.fromEntries(sections.map(({ title, rows }) => [title, rows]));
    await write('data.json', `${JSON.stringify({ ...about, data }, null, 2)}\n`);
    if (documents.length > 0) await mkdir(join(to, 'documents'), { mode: 0o700 });
    let written = 0;
    for (const { storageKey: key, sha256, fileName } of documents) {
      const refused = await saveDocument(deps, { key, sha256 }, join(to, 'documents', fileName));
      if (refused === null) written++;
      else console.error(refused);
    }
    console.log(
      `Written to ${to}: index.html, data.json and ${written} of ${documents.length} document${documents.length === 1 ? '' : 's'}. It is all about one person: give it to nobody else.`,
    );
    if (person.ofOthers > 0)
      console.log(
        'Not in it: joins that have another email, though letters or payments of them had this one. Of these only what had it is told.',
      );
    for (const id of person.others)
      console.log(`Not in it: contact ${id}, which a join names and which has another email.`);
    return written === documents.length ? 0 : 1;
  },
};

/** Creates the folder if it does not exist. Returns false if the path is a file or a folder that is not empty. */
async function isEmptyFolder(path: string): Promise<boolean> {
  try {
    await makeFolder(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return false;
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const entries = await readdir(path).catch(() => null);
  return entries?.length === 0;
}

/**
 * Creates a folder, and its parents. Node's option `recursive` would never end for a folder that cannot be created, such as
 * /proc/x.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || existsSync(dirname(path))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}

const retentionOptions = {
  'dry-run': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

export const retentionCommand: Command = {
  options: retentionOptions,
  usage: 'retention [--dry-run | --yes]',
  summary:
    'Show what is over the time that society.yaml gives it (retention), and remove it when you agree (--yes: without asking; --dry-run: only shown). The servers do it once a day by themselves.',
  async run(args, { deps }) {
    const read = readArgs(args, retentionOptions);
    if (!read || read.positionals.length > 0 || (read.values.yes && read.values['dry-run']))
      return misused(retentionCommand);
    const seen = await overview(deps);
    const total = seen.reduce((sum, { ids }) => sum + ids.length, 0);
    for (const { stage, days, ids, owing } of seen) {
      console.log(
        days === null
          ? `${stage}: kept for ever`
          : `${stage}: kept for ${days} days, ${ids.length === MOST ? 'at least ' : ''}${ids.length} over it`,
      );
      for (const id of ids) console.log(`  ${id}`);
      if (owing > 0)
        console.log(
          `  ${owing === MOST ? `at least ${owing}` : owing} more wait for goods to be sent: npm run operator -- orders list`,
        );
    }
    if (read.values['dry-run'] || total === 0) return 0;
    if (!read.values.yes && !(await askPerson('Remove it?'))) {
      console.log('Nothing was removed: say yes, or give --yes.');
      return 1;
    }
    let failed: NotAllRemoved | null = null;
    const counts: Record<Stage, number> = await applyRetention(deps).catch((error: unknown) => {
      if (!(error instanceof NotAllRemoved)) throw error;
      failed = error;
      return error.counts;
    });
    console.log(`Removed: ${stages.map((stage) => `${counts[stage]} ${stage}`).join(', ')}.`);
    if (failed) console.error((failed as NotAllRemoved).message);
    try {
      await tellStripe(deps);
      return failed ? 1 : 0;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      console.error(`${reasonOf(error)} The servers tell it again what to forget of them.`);
      return 1;
    }
  },
};
