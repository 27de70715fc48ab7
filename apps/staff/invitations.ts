import { statSync } from 'node:fs';
import { cleanText } from '#core/cleanText.ts';
import { type Doubt, doubtSentence, type Guessable, guessableSentence } from '#core/importDoubts.ts';
import { invitationStates } from '#core/invitation.ts';
import { inviteCodeError } from '#core/inviteCode.ts';
import type { Deps } from '../server/deps.ts';
import {
  contactFile,
  contactsToMint,
  type InvitationToMint,
  mintColumns,
} from '../server/joining/invitations/contactsToMint.ts';
import {
  type ImportReport,
  importInvitations,
  pastFault,
  programmeFault,
} from '../server/joining/invitations/importInvitations.ts';
import {
  explainCode,
  extendCode,
  findCode,
  type ListedInvitation,
  listInvitations,
  withdrawCode,
} from '../server/joining/invitations/invitations.ts';
import { countMembers } from '../server/joining/invitations/membersAmong.ts';
import { mintCodes } from '../server/joining/invitations/mintInvitations.ts';
import { verdictOn } from '../server/joining/invitations/verdictOn.ts';
import { count } from '../server/people/privacy/counted.ts';
import { Failed } from '../server/platform/failed.ts';
import { Progress } from '../server/platform/progress.ts';
import { readCsv } from '../server/platform/readCsv.ts';
import { dayOf, lastDay } from '../server/society/texts.ts';
import { command, Misuse } from './command.ts';
import { print, printCsvLine, warn, warnAll } from './print.ts';

export const invitationCommands = [
  command({
    usage: 'invitations import FILE.csv [--campaign NAME]',
    args: ['FILE.csv'],
    texts: { campaign: '[NAME]' },
    summary:
      'Take invitations from a CSV file: code,contactId,firstName,lastName,email,school and, where wanted, programme,expiresAt (the last day, YYYY-MM-DD). --campaign names the mailing that they belong to. Safe to run again.',
    async run({ database, society }, [file], { campaign }) {
      const began = performance.now();
      const doubts = new Map<Doubt, { count: number; line: number }>();
      const guessable: Guessable[] = [];
      const progress = new Progress('lines', statSync(file, { throwIfNoEntry: false })?.size ?? null);
      const report = await importInvitations(
        database,
        file,
        society,
        {
          refused: (line, text) => {
            progress.end();
            warn(`line ${line}: ${text}`);
          },
          doubted: (line, doubt) => {
            const { count, line: first } = doubts.get(doubt) ?? { count: 0, line };
            doubts.set(doubt, { count: count + 1, line: first });
          },
          progress: (lines, bytes) => progress.at(lines, bytes),
          stopped: (soFar) => {
            progress.end();
            warn(
              `It stopped before the end: so far ${importCounted(soFar)} When what follows is mended, give the same command again.`,
            );
          },
          guessable: (found) => guessable.push(found),
        },
        { campaign: campaign === undefined ? null : cleanText(campaign) || null },
      ).finally(() => progress.end());
      print(importCounted(report));
      const lines = report.added + report.changed + report.unchanged + report.refused;
      const seconds = (performance.now() - began) / 1000;
      if (lines >= 10_000) print(`${Math.round(lines / seconds)} lines a second, ${Math.round(seconds)} s.`);
      for (const [doubt, { count, line }] of doubts) print(`Warning: ${doubtSentence(doubt, count, line)}`);
      for (const found of guessable) print(`Warning: ${guessableSentence(found)}`);
      if (guessable.length > 0)
        print('A code opens what is known of its contact. npm run operator -- invitations mint');
      return report.refused === 0;
    },
  }),
  command({
    usage: 'invitations mint FILE.csv|--count N [--school NAME] [--programme ID] [--expires DATE]',
    args: ['[FILE.csv]'],
    texts: { count: '[N]', school: '[NAME]', programme: '[ID]', expires: '[DATE]' },
    summary:
      'Make codes that cannot be guessed, as a file for `invitations import`: for the contacts of a file (contactId), a school, or to be filled in.',
    async run({ database, society, now }, [file], { school, programme, expires, ...given }) {
      const count = given.count ?? (school ? '1' : undefined);
      if ((file === undefined) === (count === undefined)) throw new Misuse();
      if (file !== undefined && school !== undefined) throw new Misuse();
      const fault =
        (programme === undefined ? null : programmeFault(programme, society.programmes)) ??
        (expires === undefined ? null : pastFault(expires, society, now()));
      if (fault) throw new Misuse(fault);
      const all: InvitationToMint = {
        ...(school === undefined ? {} : { school }),
        ...(programme === undefined ? {} : { programme }),
        ...(expires === undefined ? {} : { expiresAt: expires }),
      };
      const refusals: string[] = [];
      const wanted =
        file === undefined
          ? Array.from({ length: Number(count) }, () => all)
          : contactsToMint(
              (await readCsv(file, contactFile)).rows,
              { all, society, now: now() },
              (line, text) => refusals.push(`line ${line}: ${text}`),
            );
      printCsvLine(['code', ...mintColumns]);
      const members = countMembers(database);
      for await (const { code, invitation } of mintCodes(database, wanted)) {
        await members.add(invitation.contactId);
        printCsvLine([code, ...mintColumns.map((column) => invitation[column] ?? '')]);
      }
      const warning = await members.warning();
      if (warning !== null) warn(`Warning: ${warning}`);
      warnAll(refusals);
      return refusals.length === 0;
    },
  }),
  command({
    usage: 'invitations list [--state STATE] [--programme ID] [--limit N]',
    texts: { state: '[STATE]', programme: '[ID]', limit: '[N]' },
    summary:
      'Count the codes that are unused, used, expired and withdrawn (STATE is one of these), and show the first N (20).',
    async run(deps, _, { state, programme, limit = '20' }) {
      const counts = { unused: 0, used: 0, expired: 0, withdrawn: 0 };
      let fitting = 0;
      for await (const invitation of listInvitations(deps.database)) {
        if (programme !== undefined && invitation.programme !== programme) continue;
        counts[invitation.state]++;
        if (state !== undefined && invitation.state !== state) continue;
        if (++fitting <= Number(limit)) printInvitation(deps, invitation);
      }
      if (fitting > Number(limit)) print(`… the first ${limit} of ${fitting}: --limit shows more.`);
      print(`${invitationStates.map((each) => `${counts[each]} ${each}`).join(', ')}.`);
    },
  }),
  command({
    usage: 'invitations explain CODE',
    args: ['CODE…'],
    summary: 'Say whom a code leads to, or why it fails. Exit status 1 if it opens no join.',
    async run(deps, [code]) {
      const found = await explainCode(deps, code);
      const { sentence, fault } = verdictOn(deps, code, found);
      print(sentence);
      return fault === null;
    },
  }),
  command({
    usage: 'invitations withdraw CODE',
    args: ['CODE'],
    summary:
      'Let a code open no join any more; it is answered like an unknown one. Joins that began with it go on. `invitations extend` opens it again.',
    async run(deps, [code]) {
      await requireKnown(deps, code);
      const done = await withdrawCode(deps, code);
      if (!done) throw unknownCode(code);
      const { at, by, isEarlier, joins } = done;
      const goOn = ` The ${count(joins, 'join')} that began with it ${joins === 1 ? 'goes' : 'go'} on.`;
      print(
        isEarlier
          ? `${code} was withdrawn already, on ${dayOf(deps.society, at)} by ${by}.`
          : `${code} is withdrawn: nobody can begin a join with it any more.${joins > 0 ? goOn : ''}`,
      );
    },
  }),
  command({
    usage: 'invitations extend CODE --until DATE',
    args: ['CODE'],
    texts: { until: 'DATE' },
    summary:
      'Let a code expire later: DATE is its last day (YYYY-MM-DD), or a time with its offset. A withdrawn code is opened again.',
    async run(deps, [code], { until }) {
      const fault = pastFault(until, deps.society, deps.now());
      if (fault) throw new Misuse(fault);
      await requireKnown(deps, code);
      const done = await extendCode(deps, code, until);
      if (!done) throw unknownCode(code);
      if (done.is === 'as it was' && done.until === null)
        throw new Failed(`${code} never expires: nothing was changed.`);
      const good = done.until
        ? `${code} is good until ${lastDay(deps.society, done.until)}`
        : `${code} never expires`;
      if (done.is === 'as it was') throw new Failed(`${good} already: nothing was changed.`);
      print(
        done.is === 'extended'
          ? `${good}; before, until ${lastDay(deps.society, done.from!)}.`
          : `${good}, and open again; it was withdrawn on ${dayOf(deps.society, done.withdrawnAt)} by ${done.withdrawnBy}.`,
      );
    },
  }),
];

function printInvitation(deps: Deps, invitation: ListedInvitation): void {
  const { code, state, contactId, school, programme, expiresAt, withdrawnAt, withdrawnBy } = invitation;
  print(
    code,
    state,
    contactId === null ? school : `contact ${contactId}`,
    programme,
    state === 'withdrawn' && `on ${dayOf(deps.society, withdrawnAt!)} by ${withdrawnBy}`,
    expiresAt && `until ${lastDay(deps.society, expiresAt)}`,
  );
}

/** Throws {@link Failed} if a code is not known, or if HubSpot is needed to look it up and does not answer. */
async function requireKnown(deps: Deps, code: string): Promise<void> {
  const found = await findCode(deps, code);
  if (found === 'unavailable')
    throw new Failed(`${code} is not known here, and HubSpot does not answer: try again in a minute.`);
  if (found !== 'known') throw unknownCode(code);
}

const unknownCode = (code: string) =>
  new Failed(
    inviteCodeError(code) ??
      `There is no code ${code}: npm run operator -- invitations explain CODE says what is like it.`,
  );

const importCounted = ({ added, changed, unchanged, refused }: ImportReport) =>
  `${added + changed} imported, ${unchanged} unchanged, ${refused} not taken.`;
