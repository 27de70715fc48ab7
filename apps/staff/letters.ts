import { cleanEmail, plain } from '#core/cleanText.ts';
import { isEmail } from '#core/studentDetails.ts';
import { compose } from '../server/letters/compose.ts';
import { judgeLetter } from '../server/letters/judgeLetter.ts';
import { listLetters, refusedLetters, retryLetters } from '../server/letters/listLetters.ts';
import { setReminders } from '../server/letters/remind.ts';
import { readLetter } from '../server/letters/takeLetter.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { agrees, type Command, isAbsent, misused, notId, readArgs } from './command.ts';

const SHOWN = 200;

const minute = (date: Date) => `${date.toISOString().slice(0, 16)}Z`;

const lettersListOptions = { all: { type: 'boolean', default: false } } as const;

export const lettersListCommand: Command = {
  options: lettersListOptions,
  usage: 'letters list [JOIN] [--all]',
  summary:
    'Show the letters that were not sent: refused, and due now. --all, or a join: those that were sent, and those that will be due, too.',
  async run(args, { database, deps }) {
    const read = readArgs(args, lettersListOptions);
    const [join, ...more] = read?.positionals ?? [];
    if (!read || more.length > 0 || (join !== undefined && !isUuid(join)))
      return misused(lettersListCommand, notId('join', join));
    if (join !== undefined && (await isAbsent(database, 'join', join))) return 1;
    const which = join ? { join } : read.values.all ? 'all' : 'unsent';
    const letters = await listLetters(deps, which, SHOWN);
    for (const { id, kind, join, email, state, attempts, refusal, at } of letters)
      console.log(
        [
          `${id}  ${kind}  ${state}${state === 'will not be sent' ? '' : ` ${minute(at)}`}`,
          ...(attempts > 1 ? [`${attempts} tries`] : []),
          ...(join ? [`join ${join}`] : []),
          ...(email ? [plain(email)] : []),
          ...(refusal ? [plain(refusal)] : []),
        ].join('  '),
      );
    if (deps.config.mail === null) console.log('No letter goes out from here (MAIL=elsewhere).');
    console.log(letters.length === SHOWN ? `The newest ${SHOWN}.` : `${letters.length} letters.`);
    return 0;
  },
};

export const lettersShowCommand: Command = {
  usage: 'letters show LETTER',
  summary: 'Show a letter as text: as it would be sent now.',
  async run([id, ...more], { deps }) {
    if (!isUuid(id) || more.length > 0) return misused(lettersShowCommand, notId('letter', id));
    const letter = await readLetter(deps, id);
    if (!letter) {
      console.error(`There is no letter ${id}.`);
      return 1;
    }
    const now = deps.now();
    const mail = compose(deps, letter, now);
    if (!mail) {
      console.error(`No email address is known that letter ${id} could go to.`);
      return 1;
    }
    const verdict = await judgeLetter(deps, letter, now);
    if (verdict === 'withdraw') console.log('What it says does not hold any more: it is not sent.\n');
    for (const [name, value] of [
      ['From', mail.from.address],
      ['To', mail.to],
      ['Subject', mail.subject],
      ['Message-ID', mail.messageId],
      ...Object.entries(mail.headers).filter(([name]) => name.startsWith('list-')),
    ])
      console.log(`${name}: ${value}`);
    console.log(`\n${mail.text}`);
    return 0;
  },
};

const lettersStopOptions = { undo: { type: 'boolean', default: false } } as const;

export const lettersStopCommand: Command = {
  options: lettersStopOptions,
  usage: 'letters stop EMAIL [--undo]',
  summary: 'Remind whoever has this email of no join any more, as the link in a reminder does; or undo that.',
  async run(args, { deps }) {
    const read = readArgs(args, lettersStopOptions);
    const [given = '', ...more] = read?.positionals ?? [];
    const email = cleanEmail(given);
    if (!read || !isEmail(email) || more.length > 0) return misused(lettersStopCommand);
    const areStopped = !read.values.undo;
    await setReminders(deps, email, areStopped);
    console.log(areStopped ? 'No more reminders go to this email.' : 'Reminders go to this email.');
    return 0;
  },
};

const lettersRetryOptions = { yes: { type: 'boolean', default: false } } as const;

export const lettersRetryCommand: Command = {
  options: lettersRetryOptions,
  usage: 'letters retry all|LETTER [--yes]',
  summary:
    'Send again what was refused, after its cause is mended; all of it only when you agree (--yes: without asking). One that was sent is not sent again.',
  async run(args, { database }) {
    const read = readArgs(args, lettersRetryOptions);
    const [which, ...more] = read?.positionals ?? [];
    if (!read || !which || more.length > 0) return misused(lettersRetryCommand);
    if (which !== 'all' && !isUuid(which)) return misused(lettersRetryCommand, notId('letter', which));
    const seen = which === 'all' && !read.values.yes ? await refusedLetters(database) : null;
    if (seen !== null && seen.length > 0) {
      for (const { kind, count } of seen) console.log(`${count}  ${kind}`);
      if (!(await agrees('Send them again?', { yes: false, done: 'sent' }))) return 1;
    }
    const count = await retryLetters(database, which, seen);
    if (count === null) {
      console.error('Other letters are refused by now, so nothing was sent. Please look again.');
      return 1;
    }
    console.log(
      count > 0
        ? `${count} will be sent again.`
        : `${which === 'all' ? 'No letter was' : 'There is no such letter, or it was not'} refused: nothing is sent again.`,
    );
    return which !== 'all' && count === 0 ? 1 : 0;
  },
};
