import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cleanEmail } from '#core/cleanText.ts';
import { isEmail } from '#core/studentDetails.ts';
import { saveDocument } from '../server/documents/saveDocument.ts';
import { applyJournal } from '../server/people/privacy/applyJournal.ts';
import { count, counted } from '../server/people/privacy/counted.ts';
import { erasePerson, type PersonErased } from '../server/people/privacy/erasePerson.ts';
import { findPerson } from '../server/people/privacy/findPerson.ts';
import { journalPath } from '../server/people/privacy/journal.ts';
import type { AtHubspot } from '../server/people/privacy/leftAtHubspot.ts';
import { type ErasurePlan, planErasure } from '../server/people/privacy/planErasure.ts';
import { pageOf, readPerson } from '../server/people/privacy/readPerson.ts';
import { openReceipt } from '../server/people/privacy/receiptFile.ts';
import { MOST, overview, removeSeen, stages } from '../server/people/privacy/retention.ts';
import { StoppedErasing } from '../server/people/privacy/stoppedErasing.ts';
import { Failed } from '../server/platform/failed.ts';
import { command, Misuse, type StaffDeps } from './command.ts';
import { agree, print, printAll, warn, warnAll } from './print.ts';

export const privacyCommands = [
  command({
    usage: 'person export EMAIL --to DIR',
    args: ['EMAIL'],
    texts: { to: 'DIR' },
    summary:
      'Write everything that Induct has about a person to a new or empty folder: a page to read, data.json, and their documents.',
    async run(deps, [email], { to }) {
      const person = await findPerson(deps, email);
      const { sections, documents } = await readPerson(deps, person);
      if (sections.length === 0) throw new Failed('Induct has nothing of this email.');
      if (!(await isEmptyFolder(to))) throw new Failed(`${to} must be a new or an empty folder.`);
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
        else warn(refused);
      }
      print(
        `Written to ${to}: index.html, data.json and ${written} of ${count(documents.length, 'document')}. It is all about one person: give it to nobody else.`,
      );
      if (person.ofOthers > 0)
        print(
          'Not in it: joins that have another email, though letters or payments of them had this one. Of these only what had it is told.',
        );
      for (const id of person.others)
        print(`Not in it: contact ${id}, which a join names and which has another email.`);
      return written === documents.length;
    },
  }),
  command({
    usage: 'person erase EMAIL [--hubspot] [--to FILE] [--yes | --dry-run] | --again [FILE]',
    args: ['[TEXT]'],
    flags: ['hubspot', 'yes', 'dry-run', 'again'],
    texts: { to: '[FILE]' },
    summary:
      'Erase everything that names a person, here and at Stripe, when you agree (--yes: without asking; --dry-run: only shown), and with --hubspot at HubSpot, too. Money stays without the person. What went and what stays is told, and written to FILE. --again: after a restore, erase once more whom the journal of erasures names.',
    async run(deps, [given], { again, to, ...options }) {
      const { yes, hubspot, 'dry-run': isTrial } = options;
      if (again && (yes || isTrial || hubspot || to !== undefined)) throw new Misuse();
      if (again) return eraseAgain(deps, given ?? journalPath(deps));
      const email = cleanEmail(given ?? '');
      if (!isEmail(email)) throw new Misuse();
      const seen = await planErasure(deps, email);
      const { person, refusals } = seen;
      if (person.joins.length + person.contacts.length + person.requests === 0 && !hubspot)
        return printNothing(seen);
      if (refusals.length > 0) throw new Failed(refusals.join('\n'));
      printErasure(seen, hubspot);
      if (isTrial) return true;
      const file = to === undefined ? null : await openReceipt(to);
      if (typeof file === 'string') throw new Failed(`Nothing was erased: ${file}`);
      try {
        await agree('Erase it?', 'erased', options);
        const erased = await erasePerson(deps, seen, { hubspot: hubspot ? deps.hubspot : null });
        const receipt = receiptOf(deps, seen, erased);
        printAll(receipt);
        const fault = await file?.write(receipt.join('\n'));
        if (fault) warn(`The person is erased, and ${fault} The receipt is the text above.`);
        return !fault;
      } catch (error) {
        await file?.discard();
        if (!(error instanceof StoppedErasing)) throw error;
        warn(`${error.sentences} The same command goes on.`);
        if (error.isFault) throw error.cause;
        return false;
      }
    },
  }),
  command({
    usage: 'retention [--dry-run | --yes]',
    flags: ['dry-run', 'yes'],
    summary:
      'Show what is over the time that society.yaml gives it (retention), and remove it when you agree (--yes: without asking; --dry-run: only shown). The servers do it once a day by themselves.',
    async run(deps, _, options) {
      const seen = await overview(deps);
      for (const { stage, days, ids, owing } of seen) {
        const over = `${ids.length === MOST ? 'at least ' : ''}${ids.length} over it`;
        print(`${stage}: kept for ${days === null ? 'ever' : `${days} days, ${over}`}`);
        printAll(ids.map((id) => `  ${id}`));
        const most = owing === MOST ? `at least ${owing}` : owing;
        if (owing > 0) print(`  ${most} more wait for goods to be sent: npm run operator -- orders list`);
      }
      if (seen.every(({ ids }) => ids.length === 0)) return true;
      await agree('Remove it?', 'removed', options);
      const { counts, faults } = await removeSeen(deps, seen);
      print(`Removed: ${stages.map((stage) => `${counts[stage]} ${stage}`).join(', ')}.`);
      warnAll(faults);
      return faults.length === 0;
    },
  }),
];

/** Repeats the erasures of a journal. Returns false if an entry was invalid or could not be applied. */
async function eraseAgain(deps: StaffDeps, path: string): Promise<boolean> {
  const applied = await applyJournal(deps, path);
  if (applied === null) throw new Failed(`There is no journal at ${path}.`);
  const { entries, again, faults, unfinished, refused } = applied;
  warnAll([...faults, ...(unfinished === null ? [] : [unfinished]), ...refused]);
  print(`${entries} erasures in the journal, ${again} made again, ${refused.length} refused.`);
  return refused.length + faults.length === 0;
}

/** Prints that this database has nothing to erase. Returns whether the person was erased before. */
function printNothing({ person: { erasedAt, atHubspot } }: ErasurePlan): boolean {
  print(
    erasedAt
      ? `Erased already, at ${erasedAt.toISOString()}. Nothing is left of them here.`
      : 'Induct has nothing of this email.',
  );
  if (countOf(atHubspot) > 0)
    print(
      `HubSpot may still have ${counted(atHubspot)} of theirs: the same command with --hubspot deletes them.`,
    );
  return erasedAt !== null;
}

const countOf = ({ contacts, files }: AtHubspot) => contacts.length + files.length;

function printErasure({ person, unsent, isAsked }: ErasurePlan, withHubspot: boolean): void {
  const { joins, contacts, others, ofOthers, erasedAt, atHubspot } = person;
  const isNothing = joins.length + contacts.length + ofOthers === 0;
  if (erasedAt)
    print(
      `Erased before, at ${erasedAt.toISOString()}; ${isNothing ? 'nothing is left of them here.' : 'this came since:'}`,
    );
  for (const uuid of joins) print(`join ${uuid}`);
  for (const { uuid, goods } of unsent)
    print(
      `paid and not sent by join ${uuid}: ${goods.join(', ')}. The address goes, so that it cannot be sent any more: send it before (npm run operator -- orders show ${uuid}), or give its money back.`,
    );
  for (const id of contacts) print(`contact ${id}${withHubspot ? ', at HubSpot too' : ''}`);
  if (withHubspot && countOf(atHubspot) > 0)
    print(`at HubSpot, left of an erasure before: ${counted(atHubspot)}`);
  for (const id of others)
    print(`stays: contact ${id}, which a join names and which has another email. Erase it by that one.`);
  if (!isAsked)
    print(
      `HubSpot could not be asked whether it knows contact ${others.join(', ')} by this email. Better wait until it answers: afterwards nothing here leads to that contact.`,
    );
  if (ofOthers > 0) print(`the email itself, in ${rowsOfOthers(ofOthers)}. The joins stay.`);
}

const rowsOfOthers = (number: number) =>
  `${count(number, 'letter or payment', 'letters and payments')} of joins that have another one`;

/** Returns the lines of the receipt: what was erased, and what was kept and why. They have no names, only ids. */
function receiptOf(
  deps: StaffDeps,
  { person: { others, ofOthers }, unsent, isAsked }: ErasurePlan,
  erased: PersonErased,
): string[] {
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
        `Paid by join ${uuid} and never sent: ${goods.join(', ')}. The address is gone, and the money stays.`,
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
  ];
}

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
