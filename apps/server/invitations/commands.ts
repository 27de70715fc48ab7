import { cleanText, plain } from '#core/cleanText.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import type { Deps } from '../deps.ts';
import { type Command, misused, readArgs } from '../platform/command.ts';
import { dayOf } from '../society/texts.ts';
import { expiryFault, pastFault, programmeFault } from './importInvitations.ts';
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
} from './invitations.ts';

/** How many invitations are listed unless staff say otherwise. */
const LISTED = 20;

const listOptions = {
  state: { type: 'string' },
  programme: { type: 'string' },
  limit: { type: 'string', default: String(LISTED) },
} as const;

export const invitationsListCommand: Command = {
  options: listOptions,
  usage: 'invitations list [--state STATE] [--programme ID] [--limit N]',
  summary:
    'Count the codes that are unused, used, expired and withdrawn (STATE is one of these), and show the first N (20).',
  async run(args, { deps, database }) {
    const read = readArgs(args, listOptions);
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
    const done = absent ? null : await withdrawCode(deps, code, deps.config.operatorName);
    if (!done) {
      console.error(absent ?? unknownSentence(code));
      return 1;
    }
    const { at, by, isEarlier, joins } = done;
    console.log(
      plain(
        isEarlier
          ? `${code} was withdrawn already, on ${dayOf(deps.society, at)} by ${by}.`
          : `${code} is withdrawn: nobody can begin a join with it any more.${joins > 0 ? ` The ${counted(joins)} that began with it ${joins === 1 ? 'goes' : 'go'} on.` : ''}`,
      ),
    );
    return 0;
  },
};

const extendOptions = { until: { type: 'string' } } as const;

export const invitationsExtendCommand: Command = {
  options: extendOptions,
  usage: 'invitations extend CODE --until DATE',
  summary:
    'Let a code expire later: DATE is its last day (YYYY-MM-DD), or a time with its offset. A withdrawn code is opened again.',
  async run(args, { deps }) {
    const read = readArgs(args, extendOptions);
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
    ? `${counted(joins)} began with it, the newest on ${day(newest.at)} (${newest.state})`
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
  const before = joins > 0 ? `; ${counted(joins)} began with it before` : '';
  const like =
    near.length > 0 ? `; almost the same ${near.length === 1 ? 'is' : 'are'} ${near.join(', ')}` : '';
  return `${code} fails: ${why}${asked}${before}${like}.`;
}

const counted = (joins: number) => (joins === 1 ? '1 join' : `${joins} joins`);

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
