import { giveBack } from '#core/remedy.ts';
import { PROOF_DUE_DAYS } from '#core/specified.ts';
import { type RejectionReason, rejectionReasons, sizeInKilobytes } from '#documents/document.ts';
import type { Deps } from '../server/deps.ts';
import { addTranscript } from '../server/documents/addTranscript.ts';
import {
  documentsOfJoin,
  fetchDocument,
  type ListedDocument,
  listUnknown,
  removeUnknown,
  resumesOf,
  whetherUnknown,
} from '../server/documents/documentsOf.ts';
import { encryptDocuments } from '../server/documents/encryptDocuments.ts';
import { type FinalRejection, rejectAndGiveBack, rejectFinally } from '../server/documents/rejectFinally.ts';
import {
  type Applicant,
  dueProofs,
  reviewTranscripts,
  waitingTranscripts,
} from '../server/documents/review.ts';
import { alsoHeld, readLine, rejectionLines, reviewLines } from '../server/documents/reviewLines.ts';
import { saveDocument } from '../server/documents/saveDocument.ts';
import { count } from '../server/people/privacy/counted.ts';
import { Failed } from '../server/platform/failed.ts';
import { Refusal } from '../server/platform/http/refusal.ts';
import { documentKeys } from '../server/providers/storage/envelope.ts';
import { command, requireThere } from './command.ts';
import { agree, day, print, printAll, warnAll } from './print.ts';
import { printPlan } from './refunds.ts';
import { commandOf } from './sentences/remedies.ts';

export const documentCommands = [
  command({
    usage: 'documents list',
    summary:
      'The joins whose transcripts wait for a decision, the oldest first; none whose membership has ended.',
    async run(deps) {
      const waiting = await waitingTranscripts(deps);
      for (const { uuid, since, count: files, name } of waiting)
        print(uuid, `since ${day(since)}`, count(files, 'file'), name ?? 'unknown');
      print(`${waiting.length} to decide.`);
    },
  }),
  command({
    usage: 'documents show JOIN|CONTACT_ID',
    args: ['JOIN|CONTACT_ID'],
    summary:
      "A join's documents, or a contact's resumes: id, name, size, and what was decided. Of a join also what its transcript should say.",
    async run(deps, [named]) {
      const isContact = /^\d+$/.test(named);
      await requireThere(deps, isContact ? 'contact' : 'join', named);
      const { join, applicant, documents } = isContact
        ? { join: null, applicant: null, documents: await resumesOf(deps, named) }
        : await documentsOfJoin(deps, named);
      if (applicant) printApplicant(applicant);
      for (const row of documents) {
        print(row.id, day(row.created_at), row.kind === 'resume' ? row.kind : verdictOn(row));
        print(`  ${row.name} (${row.media_type}, ${sizeInKilobytes(Number(row.size_bytes))})`);
      }
      if (documents.length === 0)
        throw new Failed(`${join === null ? `Contact ${named}` : `Join ${join}`} has no documents.`);
    },
  }),
  command({
    usage: 'documents add JOIN FILE',
    args: ['JOIN', 'FILE'],
    summary:
      'Add a transcript that came by email, or on paper and was scanned, to a join, as if its joiner had uploaded it.',
    async run(deps, [uuid, path]) {
      const { join, file } = await addTranscript(deps, uuid, path).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        throw new Failed(
          error.status === 404
            ? `There is no join ${uuid}, or it was erased.`
            : `Nothing is added. Its joiner would read: ${error.message}`,
        );
      });
      print(
        `${file.name} (${file.mediaType}, ${sizeInKilobytes(file.sizeBytes)}) is added to join ${join} and waits for a decision: npm run operator -- documents accept ${join}`,
      );
    },
  }),
  command({
    usage: 'documents accept JOIN',
    args: ['JOIN'],
    summary:
      "Accept a join's transcripts that wait for a decision; where none waits, take back their last rejection, unless it was final.",
    async run(deps, [uuid]) {
      await requireThere(deps, 'join', uuid);
      printAll(reviewLines(await reviewTranscripts(deps, uuid, { review: 'accepted' }), 'accepted', false));
    },
  }),
  command({
    usage: 'documents reject JOIN --reason REASON [--final] [--dry-run | --yes]',
    args: ['JOIN'],
    flags: ['final', 'dry-run', 'yes'],
    texts: { reason: 'REASON' },
    summary: `Reject them, for one of the reasons ${Object.keys(rejectionReasons).join(', ')}; or correct the reason of a rejection: the applicant reads why on the upload and the welcome page, and can upload again. --final: nothing more is taken, the membership goes back less the processing fee, and the upgrade in full; shown first, and done when you agree (--yes: without asking; --dry-run: only shown).`,
    async run(deps, [uuid], { reason: given, final, ...options }) {
      const reason = given as RejectionReason;
      const isTrial = options['dry-run'];
      await requireThere(deps, 'join', uuid);
      if (final) return rejectForGood(deps, uuid, reason, options);
      const verdict = { review: 'rejected', reason } as const;
      printAll(reviewLines(await reviewTranscripts(deps, uuid, verdict, { isTrial }), 'rejected', isTrial));
      print(readLine(rejectionReasons[reason], isTrial));
      return true;
    },
  }),
  command({
    usage: 'documents due',
    summary: `The members whose proof is due: paid ${PROOF_DUE_DAYS} days ago or longer, and no transcript, or none that was not rejected.`,
    async run(deps) {
      const due = await dueProofs(deps);
      for (const { uuid, paidAt, name, email } of due)
        print(uuid, `joined ${day(paidAt)}`, name ?? 'unknown', email ?? 'unknown');
      print(`${due.length} due.`);
    },
  }),
  command({
    usage: 'documents fetch DOCUMENT FILE',
    args: ['DOCUMENT', 'FILE'],
    summary: 'Write a document, by the id that "documents show" tells, to a new file on this machine.',
    async run(deps, [id, path]) {
      const fetched = await fetchDocument(deps, id, path);
      if (fetched === null || 'refused' in fetched)
        throw new Failed(fetched?.refused ?? `There is no document ${id}.`);
      print(`Written to ${path}, as ${fetched.mediaType}.`);
    },
  }),
  command({
    usage: 'documents unknown',
    summary:
      'Documents in the storage that the database does not know, as after a restore of an older backup: their keys.',
    async run(deps) {
      const unknown = await listUnknown(deps);
      for (const { key, isYoung } of unknown) print(key, isYoung && 'younger than a day');
      const young = unknown.filter(({ isYoung }) => isYoung).length;
      if (young > 0)
        print(`${young} younger than a day: an upload may be under way, so none of them can be removed yet.`);
      print(unknown.length === 0 ? 'The database knows every document.' : `${unknown.length} unknown.`);
      return unknown.length === young;
    },
  }),
  command({
    usage: 'documents unknown fetch KEY FILE',
    args: ['KEY', 'FILE'],
    summary: 'Write one of them to a new file on this machine, to see whose it is.',
    async run(deps, [key, path]) {
      if ((await whetherUnknown(deps, key)) === 'known') throw new Failed(notUnknown(key));
      const refused = await saveDocument(deps, { key }, path);
      if (refused !== null) throw new Failed(refused);
      print(`Written to ${path}.`);
    },
  }),
  command({
    usage: 'documents unknown remove KEY [--yes]',
    args: ['KEY'],
    flags: ['yes'],
    summary: 'Remove one of them that nobody needs, when you agree (--yes: without asking).',
    async run(deps, [key], options) {
      const is = await whetherUnknown(deps, key);
      if (is === 'young')
        throw new Failed(
          `${key} is younger than a day: an upload may be under way, so it cannot be removed yet.`,
        );
      if (is === 'known') throw new Failed(notUnknown(key));
      await agree(`Remove ${key} for good?`, 'removed', options);
      if (!(await removeUnknown(deps, key))) throw new Failed(notUnknown(key));
      print(`${key} is removed.`);
    },
  }),
  command({
    usage: 'documents encrypt [--dry-run]',
    flags: ['dry-run'],
    summary:
      'Encrypt documents that are stored as they are, and put the envelopes of the others under DOCUMENT_KEY. Servers may run, and it may be ended and given again at any time. --dry-run: only count.',
    async run(deps, _, { 'dry-run': isTrial }) {
      const secrets = deps.config.documentKeys;
      if (secrets === null) throw new Failed('No DOCUMENT_KEY is set.', { do: 'set document key' });
      const { currentId, otherIds } = documentKeys(secrets);
      const { plain, other, current, faults } = await encryptDocuments(deps, { isTrial });
      warnAll(faults);
      const would = isTrial ? 'would be' : 'were';
      print(`${plain} ${would} encrypted, and ${other} ${would} put under the key ${currentId}.`);
      print(`${current} were under it already, and ${faults.length} cannot be read.`);
      if (faults.length > 0) print('No key may go before these can be read.');
      else if (!isTrial && otherIds.length > 0)
        print(
          `No document needs the key ${otherIds.join(' or ')} any more: DOCUMENT_KEY_ALSO may go, when all servers have this DOCUMENT_KEY. Keep it for as long as you keep backups of before.`,
        );
      return faults.length === 0;
    },
  }),
];

const notUnknown = (key: string) => `${key} is not among the documents that the database does not know.`;

function verdictOn({ review, reason, is_final, removed_at }: ListedDocument): string {
  if (review === 'rejected') return `rejected${is_final ? ' finally' : ''}: ${reason}`;
  return review === 'open' && removed_at ? 'open, but its file was removed' : review;
}

async function rejectForGood(
  deps: Deps,
  uuid: string,
  reason: RejectionReason,
  options: { yes: boolean; 'dry-run': boolean },
): Promise<boolean> {
  let seen: FinalRejection | undefined;
  if (!options.yes) {
    seen = await rejectFinally(deps, uuid, reason, { isTrial: true });
    printRejection(seen, true);
    printPlan({ ...seen.plan, given: null, preview: seen.preview }, true);
    await agree('Reject it for good?', 'decided', options);
  }
  const { given, ...rejection } = await rejectAndGiveBack(deps, uuid, reason, { seen });
  const { plan, preview } = rejection;
  printRejection(rejection, false);
  const notes = [...plan.notes, ...given.notes, ...given.refused];
  return printPlan({ ...plan, notes, given, preview }, false);
}

function printRejection(rejection: FinalRejection, isTrial: boolean): void {
  printAll(rejectionLines(rejection, isTrial));
  const { others } = rejection;
  if (others.length > 0)
    print(
      `${alsoHeld(others)} ${commandOf(giveBack(others[0]!, ['membership', 'membership_upgrade'], { isIneligible: true }))}`,
    );
}

function printApplicant({ name, email, school, graduationYear, gpa }: Applicant): void {
  const told = [
    `${name ?? 'unknown'} <${email ?? 'unknown'}>`,
    school,
    graduationYear && `graduates in ${graduationYear}`,
    gpa && `GPA ${gpa}`,
  ];
  print(told.filter(Boolean).join(', '));
}
