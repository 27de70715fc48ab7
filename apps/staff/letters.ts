import { listLetters, refusedLetters, retryLetters } from '../server/letters/listLetters.ts';
import { setReminders } from '../server/letters/remind.ts';
import { showLetter } from '../server/letters/showLetter.ts';
import { Failed } from '../server/platform/failed.ts';
import { command, requireThere } from './command.ts';
import { agree, minute, print, printAll } from './print.ts';

const SHOWN = 200;

export const letterCommands = [
  command({
    usage: 'letters list [JOIN] [--all]',
    args: ['[JOIN]'],
    flags: ['all'],
    summary:
      'Show the letters that were not sent: refused, and due now. --all, or a join: those that were sent, and those that will be due, too.',
    async run(deps, [join], { all }) {
      if (join !== undefined) await requireThere(deps, 'join', join);
      const which = join ? { joins: [join] } : all ? 'all' : 'unsent';
      const letters = await listLetters(deps, which, SHOWN);
      for (const { id, kind, join, email, state, attempts, refusal, at } of letters)
        print(
          id,
          kind,
          state === 'will not be sent' ? state : `${state} ${minute(at)}`,
          attempts > 1 && `${attempts} tries`,
          join && `join ${join}`,
          email,
          refusal,
        );
      if (deps.config.mail === null) print('No letter goes out from here (MAIL=elsewhere).');
      print(letters.length === SHOWN ? `The newest ${SHOWN}.` : `${letters.length} letters.`);
    },
  }),
  command({
    usage: 'letters show LETTER',
    args: ['LETTER'],
    summary: 'Show a letter as text: as it would be sent now.',
    async run(deps, [id]) {
      const letter = await showLetter(deps, id);
      if (!letter) throw new Failed(`There is no letter ${id}.`);
      const { mail, isHeld } = letter;
      if (!mail) throw new Failed(`No email address is known that letter ${id} could go to.`);
      if (!isHeld) printAll(['What it says does not hold any more: it is not sent.', '']);
      for (const [name, value] of [
        ['From', mail.from.address],
        ['To', mail.to],
        ['Subject', mail.subject],
        ['Message-ID', mail.messageId],
        ...Object.entries(mail.headers).filter(([name]) => name.startsWith('list-')),
      ])
        print(`${name}: ${value}`);
      printAll(['', ...mail.text.split('\n')]);
    },
  }),
  command({
    usage: 'letters retry all|LETTER [--yes]',
    args: ['all|LETTER'],
    flags: ['yes'],
    summary:
      'Send again what was refused, after its cause is mended; all of it only when you agree (--yes: without asking). One that was sent is not sent again.',
    async run({ database }, [which], { yes }) {
      const seen = which === 'all' && !yes ? await refusedLetters(database) : null;
      if (seen !== null && seen.length > 0) {
        for (const { kind, count } of seen) print(`${count}`, kind);
        await agree('Send them again?', 'sent', { yes });
      }
      const count = await retryLetters(database, which, seen);
      if (count === null)
        throw new Failed('Other letters are refused by now, so nothing was sent. Please look again.');
      const none = which === 'all' ? 'No letter was' : 'There is no such letter, or it was not';
      print(count > 0 ? `${count} will be sent again.` : `${none} refused: nothing is sent again.`);
      return which === 'all' || count > 0;
    },
  }),
  command({
    usage: 'letters stop EMAIL [--undo]',
    args: ['EMAIL'],
    flags: ['undo'],
    summary:
      'Remind whoever has this email of no join any more, as the link in a reminder does; or undo that.',
    async run(deps, [email], { undo }) {
      await setReminders(deps, email, !undo);
      print(undo ? 'Reminders go to this email.' : 'No more reminders go to this email.');
    },
  }),
];
