import { sql } from 'kysely';
import { cleanEmail, plain } from '#core/cleanText.ts';
import type { LetterKind } from '#core/letterKinds.ts';
import { isEmail } from '#core/studentDetails.ts';
import type { Deps } from '../server/deps.ts';
import { compose } from '../server/letters/compose.ts';
import { judgeLetter } from '../server/letters/judgeLetter.ts';
import { stopReminders } from '../server/letters/remind.ts';
import { readLetter } from '../server/letters/takeLetter.ts';
import type { Database } from '../server/platform/database/client.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { tellAbsent } from '../server/platform/database/tellAbsent.ts';
import { agrees, type Command, misused, notId, readArgs } from './command.ts';

const SHOWN = 200;

type LetterState = 'sent' | 'refused' | 'withdrawn' | 'due' | 'trying again' | 'later' | 'will not be sent';

interface Row {
  id: string;
  kind: LetterKind;
  session_uuid: string | null;
  email: string | null;
  state: LetterState;
  at: Date;
  attempts: number;
  refusal: string | null;
}

const state = sql<LetterState>`case when sent_at is not null then 'sent' when refusal is not null then 'refused'
  when withdrawn_at is not null then 'withdrawn' when due_at > now() then 'later' when attempts > 0 then 'trying again' else 'due' end`;
/**
 * SQL for the time at which the letter was sent, withdrawn or refused (a refusal sets `next_try_at` to its own time); otherwise,
 * when it is tried next.
 */
const at = sql<Date>`coalesce(sent_at, withdrawn_at, next_try_at)`;

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
    if (join !== undefined && (await tellAbsent(database, 'join', join))) return 1;
    const which = join
      ? sql`session_uuid = ${join}`
      : read.values.all
        ? sql`true`
        : sql`sent_at is null and withdrawn_at is null and (refusal is not null or due_at <= now())`;
    const { rows } = await sql<Row>`
      select id, kind, session_uuid, email, attempts, refusal, ${state} as state, ${at} as at
      from letter where ${which} order by ${at} desc, id limit ${SHOWN}`.execute(database);
    for (const row of rows) {
      const { id, kind, session_uuid, email, attempts, refusal, at } = row;
      const state = (await willBeSent(deps, row)) ? row.state : 'will not be sent';
      console.log(
        [
          `${id}  ${kind}  ${state}${state === 'will not be sent' ? '' : ` ${minute(at)}`}`,
          ...(attempts > 1 ? [`${attempts} tries`] : []),
          ...(session_uuid ? [`join ${session_uuid}`] : []),
          ...(email ? [plain(email)] : []),
          ...(refusal ? [plain(refusal)] : []),
        ].join('  '),
      );
    }
    if (deps.config.mail === null) console.log('No letter goes out from here (MAIL=elsewhere).');
    console.log(rows.length === SHOWN ? `The newest ${SHOWN}.` : `${rows.length} letters.`);
    return 0;
  },
};

/** Whether a letter that waits would be sent, as things are now. True for letters that do not wait. */
async function willBeSent(deps: Deps, { id, state }: Pick<Row, 'id' | 'state'>): Promise<boolean> {
  if (state === 'sent' || state === 'refused' || state === 'withdrawn') return true;
  if (deps.config.mail === null) return false;
  const letter = await readLetter(deps, id);
  return letter === null || (await judgeLetter(deps, letter, deps.now())) !== 'withdraw';
}

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
  async run(args, { database, deps }) {
    const read = readArgs(args, lettersStopOptions);
    const [given = '', ...more] = read?.positionals ?? [];
    const email = cleanEmail(given);
    if (!read || !isEmail(email) || more.length > 0) return misused(lettersStopCommand);
    const areStopped = !read.values.undo;
    await stopReminders(deps.stopLinks.hash(email), areStopped).execute(database);
    console.log(areStopped ? 'No more reminders go to this email.' : 'Reminders go to this email.');
    return 0;
  },
};

/** Shows the letters that were refused, and asks whether to send them again. Agrees if there are none. */
async function agreesToAll(database: Database, yes: boolean): Promise<boolean> {
  const { rows } = await sql<{ kind: LetterKind; count: number }>`
    select kind, count(*)::int as count from letter where refusal is not null and sent_at is null group by kind order by kind`.execute(
    database,
  );
  if (rows.length === 0 || yes) return true;
  for (const { kind, count } of rows) console.log(`${count}  ${kind}`);
  return agrees('Send them again?', { yes, done: 'sent' });
}

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
    if (which === 'all' && !(await agreesToAll(database, read.values.yes))) return 1;
    // The letter becomes due now, so that its five days of retries begin again. Only a letter with a code keeps its time: it must
    // be withdrawn if the code has expired.
    const { rows } = await sql`
      update letter set refusal = null, attempts = 0, next_try_at = now(),
        due_at = case when kind = 'code' then due_at else now() end
      where refusal is not null and sent_at is null ${which === 'all' ? sql`` : sql`and id = ${which}`} returning id`.execute(
      database,
    );
    console.log(
      rows.length > 0
        ? `${rows.length} will be sent again.`
        : `${which === 'all' ? 'No letter was' : 'There is no such letter, or it was not'} refused: nothing is sent again.`,
    );
    return which !== 'all' && rows.length === 0 ? 1 : 0;
  },
};
