import { type Kysely, sql } from 'kysely';
import { isProviderEmail, providerEmail } from '#core/providerEmail.ts';
import { type KnownEmails, letterEmails } from '#core/recipients.ts';
import { isReminder } from '#core/reminders.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { hasNotEnded } from '../session/members.ts';
import { knownEmails } from '../session/person.ts';
import type { Deps } from './deps.ts';
import { dueLetters } from './dueLetters.ts';
import { showLetter } from './showLetter.ts';
import { readLetter } from './takeLetter.ts';

/** Thrown if a letter is not sent again. The message is for staff; `isAddress`: it is about the address. */
export class NotSentAgain extends Failed {
  readonly isAddress: boolean;
  constructor(message: string, isAddress = false) {
    super(message);
    this.isAddress = isAddress;
  }
}

const NO_MAIL = 'No letter goes out from here (MAIL=elsewhere).';
const CHANGED = 'Somebody has sent it meanwhile: look again.';

/** A letter that is to be sent again. */
export interface Resending {
  to: string;
  subject: string;
  /** Whether it goes to another address than the one that Induct would choose. */
  isElsewhere: boolean;
  /**
   * Why the letter was refused, by the mail server or because no address was known; null if it was not refused, or was sent
   * since.
   */
  refusal: string | null;
  /** How many letters of this kind there are about the same subject. */
  written: number;
}

/** Whether a letter is about a join of these persons. */
export async function isLetterOf(
  { database }: Pick<Deps, 'database'>,
  id: string,
  persons: readonly number[],
): Promise<boolean> {
  const { rows } = await sql`
    select from letter join join_session on uuid = session_uuid
    where letter.id = ${id} and person_id = any(${persons}::bigint[])`.execute(database);
  return rows.length > 0;
}

/**
 * Returns what {@link sendAgain} would do. `to` is the recipient's address; null for the address that Induct would choose now.
 * Changes nothing. Throws {@link NotSentAgain}.
 */
export async function previewResending(deps: Deps, id: string, to: string | null): Promise<Resending> {
  if (deps.config.mail === null) throw new NotSentAgain(NO_MAIL);
  const letter = await readLetter(deps, id);
  const shown = await showLetter(deps, id, { isSealed: true });
  if (!letter || !shown) throw new NotSentAgain('There is no such letter.');
  if (letter.kind === 'code')
    throw new NotSentAgain('A code holds for minutes. Whoever needs one asks for a new one on the page.');
  if (isReminder(letter.kind)) throw new NotSentAgain('A reminder goes out by itself, or not at all.');
  const { isWaiting, ...about } = await readAbout(deps.database, id);
  if (isWaiting) throw new NotSentAgain('This letter has not been sent yet: it goes out by itself.');
  if (!shown.isHeld)
    throw new NotSentAgain('What this letter says does not hold any more, so it is not sent again.');
  if (to !== null && !isProviderEmail(to))
    throw new NotSentAgain('No letter could be written to this address.', true);
  const by = shown.mail?.to ?? null;
  const address = to ?? by;
  if (address === null) throw new NotSentAgain('No email address is known that it could go to.', true);
  return {
    to: address,
    subject: shown.mail?.subject ?? '',
    isElsewhere: address.toLowerCase() !== by?.toLowerCase(),
    ...about,
  };
}

/**
 * Sends a letter again as `seen`, the result of {@link previewResending}, describes it. Makes a new letter, because mail programs
 * hide a second copy of the same letter. A refused original is withdrawn, so it is not tried again. Throws {@link NotSentAgain},
 * also if somebody else has sent it again meanwhile.
 */
export async function sendAgain(deps: Deps, id: string, seen: Resending): Promise<void> {
  await transaction(deps, async (trx) => {
    const { rows } = await sql<{ occasion: string }>`
      select split_part(occasion, ' ', 1) as occasion from letter where id = ${id} for update`.execute(trx);
    const [letter] = rows;
    if (!letter || (await readAbout(trx, id)).written !== seen.written) throw new NotSentAgain(CHANGED);
    await sql`
      insert into letter (kind, session_uuid, occasion, email, data, due_at, next_try_at)
      select kind, session_uuid, ${`${letter.occasion} ${deps.now().toISOString()}`},
        case when ${seen.isElsewhere} then ${seen.to} else email end, data, now(), now()
      from letter where id = ${id}`.execute(trx);
    await sql`
      update letter set withdrawn_at = now(), refusal = null
      where id = ${id} and refusal is not null and sent_at is null`.execute(trx);
  });
}

async function readAbout(
  database: Kysely<Tables>,
  id: string,
): Promise<Pick<Resending, 'refusal' | 'written'> & { isWaiting: boolean }> {
  const { rows } = await sql<Pick<Resending, 'refusal' | 'written'> & { isWaiting: boolean }>`
    select sent_at is null and refusal is null and withdrawn_at is null as "isWaiting",
      case when sent_at is null then refusal end as refusal, (
      select count(*)::int from letter other where other.kind = letter.kind and other.session_uuid is not distinct from letter.session_uuid
        and split_part(other.occasion, ' ', 1) = split_part(letter.occasion, ' ', 1)) as written
    from letter where id = ${id}`.execute(database);
  return rows[0]!;
}

/** A letter with the link to a join, to be sent by staff. */
export interface LinkLetter {
  to: string;
  /** How many such letters were written. */
  written: number;
}

/** Returns the address to which the link to a join would be mailed. Changes nothing. Throws {@link NotSentAgain}. */
export async function previewLinkLetter(deps: Deps, uuid: string): Promise<LinkLetter> {
  if (deps.config.mail === null) throw new NotSentAgain(NO_MAIL);
  const seen = await readLinkLetter(deps.database, uuid);
  if (seen.hasEnded)
    throw new NotSentAgain('Links open this join no more: it was erased, or its membership has ended.');
  if (seen.to === null) throw new NotSentAgain('No email address is known of this join.');
  return { to: seen.to, written: seen.written };
}

/**
 * Mails the link to a join to its joiner as it was shown in `seen`. Throws {@link NotSentAgain}, also if somebody else has sent
 * it meanwhile.
 */
export async function sendLinkLetter(deps: Deps, uuid: string, seen: LinkLetter): Promise<void> {
  await transaction(deps, async (trx) => {
    await sql`select from join_session where uuid = ${uuid} for no key update`.execute(trx);
    const { to, written, hasEnded } = await readLinkLetter(trx, uuid);
    if (hasEnded || to !== seen.to || written !== seen.written) throw new NotSentAgain(CHANGED);
    await dueLetters(trx, deps, [
      { kind: 'link', sessionUuid: uuid, occasion: `staff ${deps.now().toISOString()}` },
    ]);
  });
}

async function readLinkLetter(
  database: Kysely<Tables>,
  uuid: string,
): Promise<{ to: string | null; written: number; hasEnded: boolean }> {
  const { rows } = await sql<{ known: KnownEmails; written: number; hasEnded: boolean }>`
    select ${knownEmails} as known, not ${hasNotEnded} as "hasEnded",
      (select count(*)::int from letter where session_uuid = session.uuid and kind = 'link') as written
    from join_session session left join person on person.id = session.person_id where session.uuid = ${uuid}`.execute(
    database,
  );
  const { known, ...row } = rows[0]!;
  return { ...row, to: providerEmail(letterEmails(known)) };
}
