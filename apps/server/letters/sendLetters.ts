import { sql } from 'kysely';
import { repeat } from '../platform/background.ts';
import type { MailSettings } from '../platform/config/mail.ts';
import { backoff } from '../platform/database/backoff.ts';
import { countWithin } from '../platform/http/limits.ts';
import { mailServer } from '../platform/metrics.ts';
import { callWatcher, type WatchCall } from '../platform/watchCall.ts';
import {
  type MailConnection,
  MailDown,
  MailPostponed,
  MailRefused,
  mailTimes,
  openMail,
} from '../providers/mail/client.ts';
import { compose } from './compose.ts';
import type { Deps } from './deps.ts';
import { countedFor, judgeLetter } from './judgeLetter.ts';
import { troubleReporter } from './providerTrouble.ts';
import { type Letter, takeLetter } from './takeLetter.ts';

const INTERVAL_MS = 5_000;
/** The maximum number of letters that one call of `sendDue` sends over one connection. */
const BATCH = 20;
/**
 * After this many seconds, a letter that the mail server postponed is retried. The delay doubles with each try, up to the maximum
 * below (minutes).
 */
const FIRST_BACKOFF_SECONDS = 60;
const LONGEST_BACKOFF_MINUTES = 240;
/** The longest delay (minutes) before the retry of a letter that the server refused without saying that the letter is the reason. */
const LONGEST_DOUBTED_MINUTES = 60;
/** While the mail server is down, a letter is retried after about this many seconds. */
const DOWN_SECONDS = 45;
/** After this many days a letter is not retried any more (RFC 5321, 4.5.4.1: at least four to five days). */
const GIVEN_UP_DAYS = 5;
/** Staff get a notice of an outage that has delayed a letter by this long (ms). */
const TOLD_AFTER_MS = 3_600_000;

export const NO_ADDRESS = 'No email address is known that a letter could go to.';

export function startSendingLetters(deps: Deps): () => Promise<void> {
  const { mail } = deps.config;
  if (mail === null) return async () => {};
  return repeat('send letters', INTERVAL_MS, deps.log, () => sendDue(deps, mail));
}

/** Sends a batch of due letters, one after the other. Returns whether more may be due. */
export async function sendDue(deps: Deps, settings: MailSettings, times = mailTimes): Promise<boolean> {
  const watch = callWatcher(deps.log);
  let connection: MailConnection | null = null;
  try {
    for (let count = 0; count < BATCH; count++) {
      const letter = await takeLetter(deps);
      if (!letter) return false;
      try {
        connection = await handle(deps, watch, () => openMail(settings, times), letter, connection);
      } catch (error) {
        connection?.close();
        connection = null;
        if (error instanceof MailDown) {
          await waitForServer(deps, settings, letter, error);
          return false;
        }
        if (error instanceof MailRefused) await setAside(deps, letter, error.message);
        else await postpone(deps, letter, error as Error);
      }
    }
    return true;
  } finally {
    connection?.close();
  }
}

/** Sends, postpones or withdraws a letter, and returns the mail connection for the next letter; null if none is open. */
async function handle(
  deps: Deps,
  watch: WatchCall,
  open: () => Promise<MailConnection>,
  letter: Letter,
  connection: MailConnection | null,
): Promise<MailConnection | null> {
  const { database } = deps;
  const now = deps.now();
  const verdict = await judgeLetter(deps, letter, now);
  if (verdict !== 'send') {
    const change =
      verdict === 'withdraw'
        ? sql`withdrawn_at = now()`
        : sql`attempts = attempts - 1, due_at = ${verdict}, next_try_at = ${verdict}`;
    await sql`update letter set ${change} where id = ${letter.id} and sent_at is null`.execute(database);
    return connection;
  }
  const mail = compose(deps, letter, now);
  if (mail === null) {
    await setAside(deps, letter, NO_ADDRESS);
    return connection;
  }
  const current = connection ?? (await watch({ provider: 'mail', operation: 'connect' }, open));
  mailServer.isDown = false;
  await watch({ provider: 'mail', operation: 'send' }, (note) =>
    current.send(mail).catch((error: unknown) => {
      if (error instanceof MailRefused || error instanceof MailPostponed) note({ result: 'rejected' });
      throw error;
    }),
  );
  // If the process dies before this update commits, the letter is sent again with the same Message-ID.
  await sql`update letter set sent_at = now(), email = ${mail.to} where id = ${letter.id}`.execute(database);
  const counted = countedFor(deps, letter);
  if (counted) await countWithin(database, ...counted);
  return current;
}

/** Records a letter as refused; it is not sent until staff retry it. */
async function setAside({ database }: Deps, { id }: Letter, reason: string): Promise<void> {
  await sql`update letter set refusal = ${reason}, next_try_at = now() where id = ${id} and sent_at is null`.execute(
    database,
  );
}

async function postpone(deps: Deps, letter: Letter, error: Error): Promise<void> {
  const { id, dueAt, attempts } = letter;
  const isDoubted = error instanceof MailDown;
  if (!(error instanceof MailPostponed || isDoubted))
    deps.log.error({ err: error, letter: id }, 'a letter could not be written');
  const isOld = deps.now().getTime() - dueAt.getTime() > GIVEN_UP_DAYS * 86_400_000;
  // If the server has not accepted any letter recently, the letter is not at fault, so it is not given up.
  if (isOld && (!isDoubted || (await hasAccepted(deps))))
    return setAside(deps, letter, `${error.message} (for ${GIVEN_UP_DAYS} days)`);
  const longest = 60 * (isDoubted ? LONGEST_DOUBTED_MINUTES : LONGEST_BACKOFF_MINUTES);
  await sql`
    update letter set next_try_at = now() + make_interval(secs => ${backoff(attempts, { first: FIRST_BACKOFF_SECONDS, longest })})
    where id = ${id} and sent_at is null`.execute(deps.database);
}

/** Whether the mail server has accepted a letter within the last day. */
async function hasAccepted({ database }: Deps): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from letter where sent_at > now() - interval '1 day') as has`.execute(database);
  return rows[0]!.has;
}

/**
 * Postpones a letter because the mail server accepts no letters at all. The attempt that was counted when the letter was taken is
 * subtracted. If the server may refuse this letter alone, the attempt counts, and the letter is postponed for longer each time.
 */
async function waitForServer(
  deps: Deps,
  { host, port }: MailSettings,
  letter: Letter,
  error: MailDown,
): Promise<void> {
  const { database, log, now } = deps;
  const { id, dueAt } = letter;
  const { code, notice } = error;
  if (error.mayBeOfLetter) await postpone(deps, letter, error);
  else {
    mailServer.isDown = true;
    await sql`
      update letter set attempts = attempts - 1, next_try_at = now() + make_interval(secs => ${DOWN_SECONDS * (0.5 + Math.random())}::float)
      where id = ${id} and sent_at is null`.execute(database);
  }
  const isLong = now().getTime() - dueAt.getTime() > TOLD_AFTER_MS;
  await troubleReporter(
    database,
    log,
  )({
    provider: 'Mail',
    call: 'SMTP',
    status: null,
    code,
    param: null,
    requestId: null,
    notice:
      notice ??
      (isLong ? `The mail server ${host}:${port} has not taken letters for more than an hour.` : null),
  });
}
