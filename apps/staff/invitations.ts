import { statSync } from 'node:fs';
import { cleanText, plain } from '#core/cleanText.ts';
import { SHORTEST_CODE } from '#core/guessableCodes.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import type { Deps } from '../server/deps.ts';
import {
  contactFile,
  contactsToMint,
  type InvitationToMint,
  mintColumns,
} from '../server/joining/invitations/contactsToMint.ts';
import type { Guessable } from '../server/joining/invitations/guessable.ts';
import {
  type Doubt,
  expiryFault,
  type ImportReport,
  importInvitations,
  pastFault,
  programmeFault,
} from '../server/joining/invitations/importInvitations.ts';
import {
  explainCode,
  extendCode,
  type Found,
  findCode,
  invitationStates,
  type KnownCode,
  type ListedInvitation,
  listInvitations,
  type UnknownCode,
  withdrawCode,
} from '../server/joining/invitations/invitations.ts';
import { mintCodes } from '../server/joining/invitations/mintInvitations.ts';
import { Progress } from '../server/platform/progress.ts';
import { NotCsv, readCsv } from '../server/platform/readCsv.ts';
import { dayOf } from '../server/society/texts.ts';
import { type Command, misused, printCsvLine, readArgs } from './command.ts';

/** How many invitations are listed unless staff say otherwise. */
const LISTED = 20;

const invitationsListOptions = {
  state: { type: 'string' },
  programme: { type: 'string' },
  limit: { type: 'string', default: String(LISTED) },
} as const;

export const invitationsListCommand: Command = {
  options: invitationsListOptions,
  usage: 'invitations list [--state STATE] [--programme ID] [--limit N]',
  summary:
    'Count the codes that are unused, used, expired and withdrawn (STATE is one of these), and show the first N (20).',
  async run(args, { deps, database }) {
    const read = readArgs(args, invitationsListOptions);
    if (!read || read.positionals.length > 0) return misused(invitationsListCommand);
    const { state, programme, limit } = read.values;
    if (!/^\d{1,7}$/.test(limit)) return misused(invitationsListCommand, '--limit is a number.');
    if (state !== undefined && !invitationStates.some((each) => each === state))
      return misused(invitationsListCommand, `--state is one of: ${invitationStates.join(', ')}.`);
    const counts = { unused: 0, used: 0, expired: 0, withdrawn: 0 };
    let shown = 0;
    let fitting = 0;
    for await (const invitation of listInvitations(database)) {
      if (programme !== undefined && invitation.programme !== programme) continue;
      counts[invitation.state]++;
      if (state !== undefined && invitation.state !== state) continue;
      if (++fitting > Number(limit)) continue;
      shown++;
      console.log(plain(lineOf(deps, invitation)));
    }
    if (shown < fitting) console.log(`… the first ${shown} of ${fitting}: --limit shows more.`);
    console.log(`${invitationStates.map((each) => `${counts[each]} ${each}`).join(', ')}.`);
    return 0;
  },
};

function lineOf(deps: Deps, invitation: ListedInvitation): string {
  const { code, state, contactId, school, programme, expiresAt, withdrawnAt, withdrawnBy } = invitation;
  return [
    code,
    state,
    contactId === null ? school! : `contact ${contactId}`,
    ...(programme === null ? [] : [programme]),
    ...(state === 'withdrawn' ? [`on ${dayOf(deps.society, withdrawnAt!)} by ${withdrawnBy}`] : []),
    ...(expiresAt === null ? [] : [`until ${lastDay(deps, expiresAt)}`]),
  ].join('  ');
}

/** Returns the last day on which a code is good. A day ends with the first moment of the next one. */
function lastDay({ society }: Deps, expiresAt: Date): string {
  return dayOf(society, new Date(expiresAt.getTime() - 1));
}

export const invitationsWithdrawCommand: Command = {
  usage: 'invitations withdraw CODE',
  summary:
    'Let a code open no join any more; it is answered like an unknown one. Joins that began with it go on. `invitations extend` opens it again.',
  async run(args, { deps }) {
    const code = codeIn(args);
    if (code === null) return misused(invitationsWithdrawCommand);
    const absent = absentSentence(code, await findCode(deps, code));
    const done = absent ? null : await withdrawCode(deps, code);
    if (!done) {
      console.error(absent ?? unknownSentence(code));
      return 1;
    }
    const { at, by, isEarlier, joins } = done;
    console.log(
      plain(
        isEarlier
          ? `${code} was withdrawn already, on ${dayOf(deps.society, at)} by ${by}.`
          : `${code} is withdrawn: nobody can begin a join with it any more.${joins > 0 ? ` The ${joinsCounted(joins)} that began with it ${joins === 1 ? 'goes' : 'go'} on.` : ''}`,
      ),
    );
    return 0;
  },
};

const invitationsExtendOptions = { until: { type: 'string' } } as const;

export const invitationsExtendCommand: Command = {
  options: invitationsExtendOptions,
  usage: 'invitations extend CODE --until DATE',
  summary:
    'Let a code expire later: DATE is its last day (YYYY-MM-DD), or a time with its offset. A withdrawn code is opened again.',
  async run(args, { deps }) {
    const read = readArgs(args, invitationsExtendOptions);
    const code = read && codeIn(read.positionals);
    const until = read?.values.until;
    if (!code || until === undefined) return misused(invitationsExtendCommand);
    const fault = expiryFault(until) ?? pastFault(until, deps.society, deps.now());
    if (fault) return misused(invitationsExtendCommand, fault);
    const absent = absentSentence(code, await findCode(deps, code));
    const done = absent ? null : await extendCode(deps, code, until);
    if (!done) {
      console.error(absent ?? unknownSentence(code));
      return 1;
    }
    if (done.is === 'as it was') {
      console.error(
        done.until === null
          ? `${code} never expires: nothing was changed.`
          : `${code} is good until ${lastDay(deps, done.until)} already: nothing was changed.`,
      );
      return 1;
    }
    const good = `${code} is good until ${lastDay(deps, done.until)}`;
    console.log(
      plain(
        done.is === 'extended'
          ? `${good}; before, until ${lastDay(deps, done.from!)}.`
          : `${good}, and open again; it was withdrawn on ${dayOf(deps.society, done.withdrawnAt)} by ${done.withdrawnBy}.`,
      ),
    );
    return 0;
  },
};

export const invitationsExplainCommand: Command = {
  usage: 'invitations explain CODE',
  summary: 'Say whom a code leads to, or why it fails. Exit status 1 if it opens no join.',
  async run(args, { deps }) {
    const typed = cleanText(args.join(' '));
    if (typed === '') return misused(invitationsExplainCommand);
    const code = normaliseInviteCode(typed);
    const found = await explainCode(deps, code);
    const { sentence, works } =
      'code' in found ? ofKnown(deps, found) : { sentence: ofUnknown(code, found), works: false };
    console.log(plain(sentence));
    return works ? 0 : 1;
  },
};

function ofKnown(deps: Deps, found: KnownCode): { sentence: string; works: boolean } {
  const { code, contactId, name, school, programme, expiresAt, isDeleted, isMember, joins, newest } = found;
  const day = (at: Date) => dayOf(deps.society, at);
  const contact = `contact ${contactId}${name === null ? '' : ` (${name})`}`;
  const whom = contactId === null ? school! : contact;
  const used = newest
    ? `${joinsCounted(joins)} began with it, the newest on ${day(newest.at)} (${newest.state})`
    : 'no join has begun with it';
  const fails = (why: string) => ({ sentence: `${code} fails: ${why}.`, works: false });
  if (found.isWithdrawn)
    return fails(`it was withdrawn on ${day(found.withdrawnAt!)} by ${found.withdrawnBy}; it led to ${whom}`);
  if (found.hasExpired) return fails(`its last day was ${lastDay(deps, expiresAt!)}; it led to ${whom}`);
  const closed = programme === null ? null : programmeFault(programme, deps.society.programmes);
  if (closed) return fails(`its programme ${closed.replace(/\.$/, '')}; it leads to ${whom}`);
  if (isMember) return fails(`${contact} is a member already; ${used}`);
  const until = expiresAt === null ? '' : ` until ${lastDay(deps, expiresAt)}`;
  const gone = isDeleted ? ', which was deleted in HubSpot, so that its joiner finds an empty form' : '';
  const often = contactId === null ? 'as often as anybody likes; ' : '';
  return { sentence: `${code} works${until}: it leads to ${whom}${gone}; ${often}${used}.`, works: true };
}

function ofUnknown(code: string, { form, isAsked, joins, near }: UnknownCode): string {
  const why = {
    malformed: 'a code has letters and digits only, 64 at most',
    minted:
      'it looks like a code that Induct made, and its file was not imported, or its invitation was erased',
    slip: 'it looks like a code that Induct made, and its check letter is wrong, so that it was mistyped',
    other: 'there is no such invitation',
  }[form];
  const asked =
    form === 'malformed' ? '' : isAsked ? ', nor does HubSpot know it' : ', and HubSpot does not answer';
  const before = joins > 0 ? `; ${joinsCounted(joins)} began with it before` : '';
  const like =
    near.length > 0 ? `; almost the same ${near.length === 1 ? 'is' : 'are'} ${near.join(', ')}` : '';
  return `${code} fails: ${why}${asked}${before}${like}.`;
}

const joinsCounted = (joins: number) => (joins === 1 ? '1 join' : `${joins} joins`);

/** Returns the normalised code, if the arguments are one word; null otherwise. */
function codeIn(args: readonly string[]): string | null {
  const [given, ...more] = args.map(cleanText);
  return given && more.length === 0 ? normaliseInviteCode(given) : null;
}

const unknownSentence = (code: string) =>
  `There is no code ${plain(code)}: npm run operator -- invitations explain CODE says what is like it.`;

/** Returns why nothing can be done with a code; null if it is known. */
function absentSentence(code: string, found: Found): string | null {
  if (found === 'known') return null;
  if (found === 'unavailable')
    return `${plain(code)} is not known here, and HubSpot does not answer: try again in a minute.`;
  return inviteCodeError(code) ?? unknownSentence(code);
}

export const importCommand: Command = {
  usage: 'invitations import FILE.csv',
  summary:
    'Take invitations from a CSV file: code,contactId,firstName,lastName,email,school and, where wanted, programme,expiresAt (the last day, YYYY-MM-DD). Safe to run again.',
  async run([file, ...more], { database, deps }) {
    if (!file || more.length > 0) return misused(importCommand);
    const began = performance.now();
    const doubts = new Map<Doubt, { count: number; line: number }>();
    const guessable: Guessable[] = [];
    const progress = new Progress('lines', statSync(file, { throwIfNoEntry: false })?.size ?? null);
    try {
      const { imported, unchanged, refused } = await importInvitations(database, file, deps.society, {
        refused: (line, text) => {
          progress.end();
          console.error(`line ${line}: ${plain(text)}`);
        },
        doubted: (line, doubt) => {
          const { count, line: first } = doubts.get(doubt) ?? { count: 0, line };
          doubts.set(doubt, { count: count + 1, line: first });
        },
        progress: (lines, bytes) => progress.at(lines, bytes),
        stopped: (soFar) => {
          progress.end();
          console.error(
            `It stopped before the end: so far ${importCounted(soFar)} When what follows is mended, give the same command again.`,
          );
        },
        guessable: (found) => guessable.push(found),
      });
      progress.end();
      console.log(importCounted({ imported, unchanged, refused }));
      const lines = imported + unchanged + refused;
      const seconds = (performance.now() - began) / 1000;
      if (lines >= 10_000)
        console.log(`${Math.round(lines / seconds)} lines a second, ${Math.round(seconds)} s.`);
      for (const [doubt, { count, line }] of doubts)
        console.log(`Warning: ${doubtful[doubt]}: ${count}, such as on line ${line}.`);
      for (const found of guessable) console.log(`Warning: ${warningOf(found)}`);
      if (guessable.length > 0)
        console.log('A code opens what is known of its contact. npm run operator -- invitations mint');
      return refused > 0 ? 1 : 0;
    } catch (error) {
      if (!(error instanceof NotCsv)) throw error;
      progress.end();
      console.error(plain(error.message));
      return 1;
    }
  },
};

const importCounted = ({ imported, unchanged, refused }: ImportReport) =>
  `${imported} imported, ${unchanged} unchanged, ${refused} not taken.`;

const doubtful: Record<Doubt, string> = {
  moved: 'codes that lead to another contact now, while their joins stay with the contact who began them',
  expired: 'codes that have expired already',
  withdrawn: 'codes that were withdrawn, and stay so (invitations extend CODE opens one again)',
};

/**
 * Returns a warning for staff about guessable codes. It has line numbers instead of the codes, since the output may end up in a
 * log.
 */
function warningOf({ kind, count, lines }: Guessable): string {
  const where = `such as on ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(' and ')}`;
  switch (kind) {
    case 'short':
      return `personal codes of fewer than ${SHORTEST_CODE} characters: ${count}, ${where}. They are found by trying.`;
    case 'sequential':
      return `personal codes that follow on another one: ${count}, ${where}. Whoever has one knows the next.`;
    case 'alike':
      return `personal codes that differ from another one by one character: at least ${count}, ${where}. A slip of the finger opens somebody else's invitation.`;
  }
}

const mintOptions = {
  count: { type: 'string' },
  school: { type: 'string' },
  programme: { type: 'string' },
  expires: { type: 'string' },
} as const;

export const mintCommand: Command = {
  options: mintOptions,
  usage: 'invitations mint FILE.csv|--count N [--school NAME] [--programme ID] [--expires DATE]',
  summary:
    'Make codes that cannot be guessed, as a file for `invitations import`: for the contacts of a file (contactId), a school, or to be filled in.',
  async run(args, { database, deps }) {
    const read = readArgs(args, mintOptions);
    if (!read || read.positionals.length > 1) return misused(mintCommand);
    const [file] = read.positionals;
    const { count = read.values.school ? '1' : undefined, school, programme, expires } = read.values;
    if ((file === undefined) === (count === undefined)) return misused(mintCommand);
    if (file !== undefined && school !== undefined) return misused(mintCommand);
    if (count !== undefined && !/^[1-9]\d{0,6}$/.test(count)) return misused(mintCommand);
    const { programmes } = deps.society;
    const closed = programme === undefined ? null : programmeFault(programme, programmes);
    if (closed) {
      console.error(plain(closed));
      return 2;
    }
    const now = deps.now();
    const fault =
      expires === undefined ? null : (expiryFault(expires) ?? pastFault(expires, deps.society, now));
    if (fault) {
      console.error(plain(fault));
      return 2;
    }
    const all: InvitationToMint = {
      ...(school === undefined ? {} : { school }),
      ...(programme === undefined ? {} : { programme }),
      ...(expires === undefined ? {} : { expiresAt: expires }),
    };
    const refusals: string[] = [];
    const refuse = (line: number, text: string) => refusals.push(`line ${line}: ${plain(text)}`);
    try {
      const wanted =
        file === undefined
          ? Array.from({ length: Number(count) }, () => all)
          : contactsToMint(
              (await readCsv(file, contactFile)).rows,
              { all, society: deps.society, now },
              refuse,
            );
      printCsvLine(['code', ...mintColumns]);
      for await (const { code, invitation } of mintCodes(database, wanted))
        printCsvLine([code, ...mintColumns.map((column) => invitation[column] ?? '')]);
    } catch (error) {
      if (!(error instanceof NotCsv)) throw error;
      console.error(plain(error.message));
      return 1;
    }
    for (const refusal of refusals) console.error(refusal);
    return refusals.length > 0 ? 1 : 0;
  },
};
