import { plain as plainText } from '#core/cleanText.ts';
import { giveBack } from '#core/remedy.ts';
import { PROOF_DUE_DAYS } from '#core/specified.ts';
import { type RejectionReason, rejectionReasons, sizeInKilobytes } from '#documents/document.ts';
import type { Deps } from '../server/deps.ts';
import { addTranscript, NotAFile } from '../server/documents/addTranscript.ts';
import {
  documentsOfJoin,
  fetchDocument,
  type ListedDocument,
  listUnknown,
  removeUnknown,
  resumesOf,
  whetherUnknown,
} from '../server/documents/documentsOf.ts';
import { type FinalRejection, rejectAndGiveBack, rejectFinally } from '../server/documents/rejectFinally.ts';
import {
  type Applicant,
  dueProofs,
  type Reviewed,
  reviewTranscripts,
  waitingTranscripts,
} from '../server/documents/review.ts';
import { saveDocument } from '../server/documents/saveDocument.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { Failed } from '../server/platform/failed.ts';
import { Refusal } from '../server/platform/http/refusal.ts';
import { NotAtStripe } from '../server/providers/stripe/failures.ts';
import { agrees, type Command, isAbsent, misused, notId, readArgs } from './command.ts';
import { tellPlan } from './refunds.ts';
import { failureSentence } from './sentences/failures.ts';
import { commandOf } from './sentences/remedies.ts';

const day = (date: Date) => date.toISOString().slice(0, 10);

export const documentsListCommand: Command = {
  usage: 'documents list',
  summary:
    'The joins whose transcripts wait for a decision, the oldest first; none whose membership has ended.',
  async run(args, { deps }) {
    if (args.length > 0) return misused(documentsListCommand);
    const waiting = await waitingTranscripts(deps);
    for (const { uuid, since, count, name } of waiting)
      console.log(`${uuid}  since ${day(since)}  ${count} file${count === 1 ? '' : 's'}  ${plain(name)}`);
    console.log(`${waiting.length} to decide.`);
    return 0;
  },
};

export const documentsShowCommand: Command = {
  usage: 'documents show JOIN|CONTACT_ID',
  summary:
    "A join's documents, or a contact's resumes: id, name, size, and what was decided. Of a join also what its transcript should say.",
  async run([named, ...more], { deps, database }) {
    const isContact = /^[0-9]{1,20}$/.test(named ?? '');
    if (!named || more.length > 0) return misused(documentsShowCommand);
    if (!isContact && !isUuid(named)) return misused(documentsShowCommand, notId('join', named));
    if (await isAbsent(database, isContact ? 'contact' : 'join', named)) return 1;
    const { join, applicant, documents } = isContact
      ? { join: null, applicant: null, documents: await resumesOf(deps, named) }
      : await documentsOfJoin(deps, named);
    if (applicant) tell(applicant);
    for (const row of documents) {
      console.log(`${row.id}  ${day(row.created_at)}  ${row.kind === 'resume' ? row.kind : verdictOn(row)}`);
      console.log(`  ${plain(row.name)} (${row.media_type}, ${sizeInKilobytes(Number(row.size_bytes))})`);
    }
    if (documents.length === 0)
      console.error(`${join === null ? `Contact ${named}` : `Join ${join}`} has no documents.`);
    return documents.length === 0 ? 1 : 0;
  },
};

function verdictOn({ review, reason, is_final, removed_at }: ListedDocument): string {
  if (review === 'rejected') return `rejected${is_final ? ' finally' : ''}: ${reason}`;
  return review === 'open' && removed_at ? 'open, but its file was removed' : review;
}

export const documentsAddCommand: Command = {
  usage: 'documents add JOIN FILE',
  summary:
    'Add a transcript that came by email, or on paper and was scanned, to a join, as if its joiner had uploaded it.',
  async run([uuid, path, ...more], { deps }) {
    if (!isUuid(uuid) || !path || more.length > 0) return misused(documentsAddCommand, notId('join', uuid));
    try {
      const { join, file } = await addTranscript(deps, uuid, path);
      console.log(
        `${plain(file.name)} (${file.mediaType}, ${sizeInKilobytes(file.sizeBytes)}) is added to join ${join} and waits for a decision: npm run operator -- documents accept ${join}`,
      );
      return 0;
    } catch (error) {
      if (error instanceof NotAFile) console.error(error.message);
      else if (!(error instanceof Refusal)) throw error;
      else if (error.status === 404) console.error(`There is no join ${uuid}, or it was erased.`);
      else console.error(`Nothing is added. Its joiner would read: ${error.message}`);
      return 1;
    }
  },
};

export const documentsAcceptCommand: Command = {
  usage: 'documents accept JOIN',
  summary:
    "Accept a join's transcripts that wait for a decision; where none waits, take back their last rejection, unless it was final.",
  async run([uuid], { deps }) {
    if (!isUuid(uuid)) return misused(documentsAcceptCommand, notId('join', uuid));
    if (await isAbsent(deps.database, 'join', uuid)) return 1;
    return orSayWhy(async () => {
      say(await reviewTranscripts(deps, uuid, { review: 'accepted' }), 'accepted');
      return 0;
    });
  },
};

const documentsRejectOptions = {
  reason: { type: 'string' },
  final: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

export const documentsRejectCommand: Command = {
  options: documentsRejectOptions,
  usage: 'documents reject JOIN --reason REASON [--final] [--dry-run | --yes]',
  summary: `Reject them, for one of the reasons ${Object.keys(rejectionReasons).join(', ')}; or correct the reason of a rejection: the applicant reads why on the upload and the welcome page, and can upload again. --final: nothing more is taken, the membership goes back less the processing fee, and the upgrade in full; shown first, and done when you agree (--yes: without asking; --dry-run: only shown).`,
  async run(args, { deps }) {
    const read = readArgs(args, documentsRejectOptions);
    const [uuid] = read?.positionals ?? [];
    const reason = read?.values.reason;
    if (!read || !isUuid(uuid) || reason === undefined || !Object.hasOwn(rejectionReasons, reason))
      return misused(documentsRejectCommand, notId('join', uuid));
    const { final: isFinal, 'dry-run': isTrial, yes } = read.values;
    if (yes && isTrial) return misused(documentsRejectCommand);
    if (await isAbsent(deps.database, 'join', uuid)) return 1;
    return orSayWhy(() =>
      isFinal
        ? rejectForGood(deps, uuid, reason as RejectionReason, { isTrial, yes })
        : rejectForNow(deps, uuid, reason as RejectionReason, isTrial),
    );
  },
};

/** Runs `decide`. If it throws because no decision is possible, prints the reason for staff, and returns 1. */
async function orSayWhy(decide: () => Promise<number>): Promise<number> {
  try {
    return await decide();
  } catch (error) {
    if (!(error instanceof Failed || error instanceof NotAtStripe)) throw error;
    console.error(error instanceof Failed ? failureSentence(error) : error.message);
    return 1;
  }
}

async function rejectForNow(
  deps: Deps,
  uuid: string,
  reason: RejectionReason,
  isTrial: boolean,
): Promise<number> {
  say(await reviewTranscripts(deps, uuid, { review: 'rejected', reason }, { isTrial }), 'rejected', isTrial);
  sayRead(rejectionReasons[reason], isTrial);
  return 0;
}

async function rejectForGood(
  deps: Deps,
  uuid: string,
  reason: RejectionReason,
  { isTrial, yes }: { isTrial: boolean; yes: boolean },
): Promise<number> {
  let seen: FinalRejection | undefined;
  if (!yes) {
    seen = await rejectFinally(deps, uuid, reason, { isTrial: true });
    tellRejection(seen, true);
    const status = tellPlan({ ...seen.plan, given: null, preview: seen.preview }, true);
    if (isTrial) return status;
    if (!(await agrees('Reject it for good?', { yes, done: 'decided' }))) return 1;
  }
  const { given, ...rejection } = await rejectAndGiveBack(deps, uuid, reason, { seen });
  const { plan, preview } = rejection;
  tellRejection(rejection, false);
  const notes = [...plan.notes, ...given.notes, ...given.refused];
  return tellPlan({ ...plan, notes, given, preview }, false);
}

function tellRejection({ reviewed, sentence, others }: FinalRejection, isTrial: boolean): void {
  if (reviewed.count > 0) {
    say(reviewed, 'rejected', isTrial);
    sayRead(sentence, isTrial);
  }
  if (others.length > 0)
    console.log(
      `The same name and email still hold a membership by join ${others.join(' and join ')}. If it is the same person, give it back, too: ${commandOf(giveBack(others[0]!, ['membership', 'membership_upgrade'], { isIneligible: true }))}`,
    );
}

function sayRead(sentence: string, isTrial: boolean): void {
  console.log(`The applicant ${isTrial ? 'would read' : 'reads'}: ${sentence}`);
}

export const documentsDueCommand: Command = {
  usage: 'documents due',
  summary: `The members whose proof is due: paid ${PROOF_DUE_DAYS} days ago or longer, and no transcript, or none that was not rejected.`,
  async run(args, { deps }) {
    if (args.length > 0) return misused(documentsDueCommand);
    const due = await dueProofs(deps);
    for (const { uuid, paidAt, name, email } of due)
      console.log(`${uuid}  joined ${day(paidAt)}  ${plain(name)}  ${plain(email)}`);
    console.log(`${due.length} due.`);
    return 0;
  },
};

export const documentsFetchCommand: Command = {
  usage: 'documents fetch ID FILE',
  summary: 'Write a document, by the id that "documents show" tells, to a new file on this machine.',
  async run([id, path, ...more], { deps }) {
    if (!isUuid(id) || !path || more.length > 0) return misused(documentsFetchCommand, notId('document', id));
    const fetched = await fetchDocument(deps, id, path);
    if (fetched === null || 'refused' in fetched) {
      console.error(fetched?.refused ?? `There is no document ${id}.`);
      return 1;
    }
    console.log(`Written to ${path}, as ${fetched.mediaType}.`);
    return 0;
  },
};

/** Returns user input without the characters that a terminal interprets; "unknown" for null. */
function plain(text: string | null): string {
  return text === null ? 'unknown' : plainText(text);
}

function tell({ name, email, school, graduationYear, gpa }: Applicant): void {
  const told = [
    `${plain(name)} <${plain(email)}>`,
    school,
    graduationYear && `graduates in ${graduationYear}`,
    gpa && `GPA ${gpa}`,
  ];
  console.log(plain(told.filter(Boolean).join(', ')));
}

/** Prints what a decision has changed, and which earlier decision it took back or replaced. */
function say(
  { count, acceptedBefore, rejectedBefore }: Reviewed,
  verdict: 'accepted' | 'rejected',
  isTrial = false,
): void {
  const is = (many: boolean) => (isTrial ? 'would be' : many ? 'are' : 'is');
  console.log(`${count} document${count === 1 ? '' : 's'} ${is(count > 1)} ${verdict}.`);
  if (verdict === 'rejected' && acceptedBefore > 0) {
    const which = count === 1 ? 'It' : `${acceptedBefore} of them`;
    const were = acceptedBefore === 1 ? 'was' : 'were';
    console.log(`${which} ${were} accepted before: that ${is(false)} taken back.`);
  }
  if (rejectedBefore !== null) {
    const whose = count === 1 ? 'Its' : 'Their';
    const done = verdict === 'accepted' ? 'taken back' : 'replaced';
    console.log(`${whose} rejection (${rejectedBefore}) ${is(false)} ${done}.`);
  }
}

const documentsUnknownOptions = { yes: { type: 'boolean', default: false } } as const;

export const documentsUnknownCommand: Command = {
  options: documentsUnknownOptions,
  usage: 'documents unknown [fetch KEY FILE|remove KEY [--yes]]',
  summary:
    'Documents in the storage that the database does not know, as after a restore of an older backup: their keys. Fetch one to see whose it is; remove one that nobody needs, when you agree (--yes: without asking).',
  async run(args, { deps }) {
    const read = readArgs(args, documentsUnknownOptions);
    if (!read) return misused(documentsUnknownCommand);
    const [what, key, path, ...more] = read.positionals;
    if (what === undefined) {
      const unknown = await listUnknown(deps);
      for (const { key, isYoung } of unknown) console.log(isYoung ? `${key}  younger than a day` : key);
      const young = unknown.filter(({ isYoung }) => isYoung).length;
      if (young > 0)
        console.log(
          `${young} younger than a day: an upload may be under way, so none of them can be removed yet.`,
        );
      console.log(unknown.length === 0 ? 'The database knows every document.' : `${unknown.length} unknown.`);
      return unknown.length === young ? 0 : 1;
    }
    const isFetch = what === 'fetch' && path !== undefined && more.length === 0;
    if (!isUuid(key) || !(isFetch || (what === 'remove' && path === undefined)))
      return misused(documentsUnknownCommand);
    const is = await whetherUnknown(deps, key);
    if (is === 'known' || (is === 'young' && !isFetch)) {
      console.error(whyNotUnknown(key, is));
      return 1;
    }
    if (!isFetch) {
      if (!(await agrees(`Remove ${key} for good?`, { yes: read.values.yes, done: 'removed' }))) return 1;
      const isRemoved = await removeUnknown(deps, key);
      if (isRemoved) console.log(`${key} is removed.`);
      else console.error(whyNotUnknown(key, 'known'));
      return isRemoved ? 0 : 1;
    }
    const refused = await saveDocument(deps, { key }, path);
    if (refused !== null) {
      console.error(refused);
      return 1;
    }
    console.log(`Written to ${path}.`);
    return 0;
  },
};

function whyNotUnknown(key: string, is: 'young' | 'known'): string {
  return is === 'young'
    ? `${key} is younger than a day: an upload may be under way, so it cannot be removed yet.`
    : `${key} is not among the documents that the database does not know.`;
}
