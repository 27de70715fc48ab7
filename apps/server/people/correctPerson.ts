import { type Kysely, sql } from 'kysely';
import { contactFieldOf } from '#core/contact.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { isProviderEmail } from '#core/providerEmail.ts';
import {
  type CorrectableField,
  cleanDetails,
  correctable,
  INVALID_EMAIL,
  noDetails,
  type StudentDetails,
  type StudentDetailsField,
  studentDetailsErrors,
} from '#core/studentDetails.ts';
import { countryRule } from '#reference/countries.ts';
import { nobodyIsErased } from '../crm/fence.ts';
import { notifyOfLikelySame } from '../crm/heldTwice.ts';
import { knownOf } from '../crm/hubspot/properties.ts';
import {
  leaveContact,
  makeDue,
  queuedTogether,
  queuePersonsForHubspot,
} from '../crm/queuePersonsForHubspot.ts';
import { revokePasses } from '../joining/pass/revoke.ts';
import { dueLetters, retryRefused } from '../letters/dueLetters.ts';
import { endNotices } from '../letters/notifyStaff.ts';
import { holding } from '../platform/database/holding.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { ContactProfile, Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { wordsWith } from '../session/words.ts';
import type { Deps } from './deps.ts';
import { writeNotes } from './writeNotes.ts';

export type Change = Partial<Record<CorrectableField, string>>;

/** The effects of a correction: shown before it, and returned after it. */
export interface Correction {
  /** The fields that change, with their values before and after. */
  fields: { field: CorrectableField; from: string; to: string }[];
  /** The uuids of the person's joins. */
  joins: string[];
  /** How many joins have a confirmation that was sent, or may have been, and can be sent again. */
  confirmations: number;
  /** The number of all confirmation letters. It has grown if somebody has sent a confirmation again. */
  written: number;
}

/** Thrown if a correction is refused. The message is for staff; `errors` has a sentence for each wrong field. */
export class NotCorrectable extends Failed {
  readonly errors: Partial<Record<CorrectableField, string>>;
  constructor(message: string, errors: Partial<Record<CorrectableField, string>> = {}) {
    super(message);
    this.errors = errors;
  }
}

/** Thrown if a person was changed or merged since they were shown, or somebody is being erased. Nothing was corrected. */
export class ChangedMeanwhile extends Failed {
  constructor() {
    super('Somebody has changed the person meanwhile: look again.');
  }
}

/**
 * Returns what a correction of a person would do. Changes nothing. Throws {@link NotCorrectable}, and {@link ChangedMeanwhile} if
 * the person was merged.
 */
export async function previewCorrection(
  { database, now }: Pick<Deps, 'database' | 'now'>,
  personId: number,
  change: Change,
): Promise<Correction> {
  return (await plan(database, personId, change, now().getFullYear())).correction;
}

/** Returns a person's present values in the fields that can be corrected. Throws as {@link previewCorrection} does. */
export async function readCorrectable(
  { database, now }: Pick<Deps, 'database' | 'now'>,
  personId: number,
): Promise<Record<CorrectableField, string>> {
  const { before } = await plan(database, personId, {}, now().getFullYear());
  return Object.fromEntries(correctable.map((field) => [field, before.details[field]])) as Record<
    CorrectableField,
    string
  >;
}

/** Returns sentences for staff about the effects of a correction, apart from the fields that change. */
export function correctionSentences(
  { fields, joins, confirmations }: Correction,
  { resends, endsLinks }: { resends: boolean; endsLinks?: boolean },
): string[] {
  const isOtherEmail = fields.some(({ field }) => field === 'personalEmail');
  const isOtherName = fields.some(({ field }) => ['firstName', 'middleName', 'lastName'].includes(field));
  const again = confirmations === 1 ? 'the confirmation' : `${confirmations} confirmations`;
  return [
    ...((endsLinks ?? isOtherEmail) && joins.length > 0
      ? ['Links in letters already sent stop working.']
      : []),
    ...(isOtherName && confirmations > 0
      ? ['The certificate and press release show the new name from now on.']
      : []),
    ...(isOtherEmail ? ['Receipts that Stripe already sent went to the old address.'] : []),
    ...(resends
      ? [confirmations > 0 ? `Sent again: ${again}.` : 'No confirmation was sent, so none is sent again.']
      : []),
  ];
}

/**
 * Corrects a person, if the effects are still those that staff or the joiner have seen (`seen`, {@link previewCorrection}):
 * - Later letters, papers, HubSpot and the search use the new values. With `resends`, the confirmations are sent again. With
 *   `tellsFormer`, a letter to the former email reports the change.
 * - The details of joins that are not paid are corrected as well.
 * - If the email changes, a contact that was found for the person loses the purchases. Links in letters stop working, because
 *   somebody else may read them at the old address. `endsLinks` false keeps the links; true ends them in any case.
 * - The metadata of the intents at Stripe, from which a lost join is made again, are corrected. Receipts that Stripe has sent
 *   stay as they are.
 *
 * Stripe is updated first: if it does not answer, nothing is corrected, and the call is safe to repeat. If the correction fails
 * afterwards, the present values are written to Stripe again. Corrections of one person run one at a time, and none runs while
 * somebody is erased. Throws {@link NotCorrectable} and {@link ChangedMeanwhile}.
 */
export async function correctPerson(
  deps: Deps,
  personId: number,
  change: Change,
  how: { seen: Correction; resends: boolean; endsLinks?: boolean; tellsFormer?: boolean },
): Promise<Correction> {
  const take = async (trx: Kysely<Tables>) => {
    if (!(await nobodyIsErased(trx))) return false;
    const { rows } = await sql<{ isFree: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('correction ' || ${personId}, 0)) as "isFree"`.execute(
      trx,
    );
    return rows[0]!.isFree;
  };
  const done = await holding(deps.database, take, () => correct(deps, personId, change, how));
  if (done === null) throw new ChangedMeanwhile();
  return done;
}

async function correct(
  deps: Deps,
  personId: number,
  change: Change,
  { seen, resends, endsLinks, tellsFormer = false }: Parameters<typeof correctPerson>[3],
): Promise<Correction> {
  const year = deps.now().getFullYear();
  const planned = await plan(deps.database, personId, change, year);
  requireSeen(seen, planned.correction, resends);
  const joinsOfPerson = sql`person_id = ${personId}`;
  await writeNotes(deps, joinsOfPerson, planned.after);
  try {
    return await transaction(deps, async (trx) => {
      await sql`select from join_session where ${joinsOfPerson} order by uuid for no key update`.execute(trx);
      const { before, after, correction } = await plan(trx, personId, change, year);
      requireSeen(seen, correction, resends);
      const { fields, joins } = correction;
      const likeness = likenessOf(after);
      if (likeness !== null)
        await sql`select pg_advisory_xact_lock(hashtextextended('likeness ' || ${likeness}, 0))`.execute(trx);
      await sql`select from person where id = ${personId} for update`.execute(trx);
      const told = await queuedTogether(trx, [personId]);
      const changed = Object.fromEntries(fields.map(({ field, to }) => [field, to]));
      const former = fields.find(({ field }) => field === 'personalEmail')?.from;
      const isOtherEmail = former !== undefined;
      if (isOtherEmail) await leaveContact(trx, sql`id = ${personId}`);
      if (fields.length > 0) {
        // After a payment, the person can still be found by the former names and email, too.
        const known = [after, ...(before.isPaid ? [before.details] : [])]
          .map((one) => searchWords(one))
          .join(' ');
        await sql`
          update person set details = ${JSON.stringify(after)}::jsonb, likeness = ${likeness}, words = ${wordsWith(sql`${known}::text`)}
          where id = ${personId}`.execute(trx);
        await sql`
          update join_session set details = case when state <> 'paid' then details || ${JSON.stringify(changed)}::jsonb else details end,
            updated_at = now()
          where ${joinsOfPerson}`.execute(trx);
        await queuePersonsForHubspot(trx, told, { isAnew: true });
        if (after.firstName !== before.details.firstName || after.lastName !== before.details.lastName)
          await endNotices(trx, ['certificate_name'], { subjects: joins });
        await sql`
          insert into join_event (session_uuid, step, cause, detail)
          select uuid, 'details_corrected', unless_staff('joiner'), ${JSON.stringify({ fields: Object.keys(changed) })}::jsonb
          from unnest(${joins}::uuid[]) as uuid`.execute(trx);
        await notifyOfLikelySame(trx, personId);
      }
      if (isOtherEmail) {
        await leaveAttached(trx, personId);
        await endNotices(trx, ['email_refused'], { subjects: joins });
        const isTheirs = sql`session_uuid = any(${joins}::uuid[])`;
        await sql`
          update letter set withdrawn_at = now()
          where ${isTheirs} and email is not null and sent_at is null and withdrawn_at is null`.execute(trx);
        await retryRefused(trx, sql`${isTheirs} and email is null`);
      }
      // Somebody who reads the old address may have the links in letters, even in letters that are on their way.
      if (endsLinks ?? isOtherEmail) await revokePasses(trx, joinsOfPerson, deps.now());
      if (tellsFormer && former && isProviderEmail(former))
        await dueLetters(trx, deps, [
          {
            kind: 'email-changed',
            sessionUuid: joins[0]!,
            occasion: deps.now().toISOString(),
            email: former,
          },
        ]);
      if (resends) await sendConfirmationsAgain(trx, deps, joins);
      return correction;
    });
  } catch (error) {
    const { rows } = await sql<{ details: StudentDetails | null }>`
      select details from person where id = ${personId}`.execute(deps.database);
    if (rows[0]?.details) await writeNotes(deps, joinsOfPerson, rows[0].details);
    throw error;
  }
}

function requireSeen(seen: Correction, now: Correction, resends: boolean): void {
  const isSent = resends && seen.written !== now.written;
  if (isSent || JSON.stringify(seen.fields) !== JSON.stringify(now.fields)) throw new ChangedMeanwhile();
}

/**
 * Separates other persons from the contact that this person's join created, because the contact gets the corrected email, too.
 * Another contact is looked for after some seconds, when HubSpot should have that email.
 */
async function leaveAttached(trx: Kysely<Tables>, personId: number): Promise<void> {
  const ids = await leaveContact(
    trx,
    sql`found_contact_id = (select own.contact_id from person own where own.id = ${personId} and own.made_contact)`,
  );
  await makeDue(sql`(select unnest(${ids}::bigint[]))`, { afterSeconds: 5 }).execute(trx);
}

/** SQL for whether a confirmation has arrived, or may have: it was sent, or was tried and waits for its next try. */
const isSentConfirmation = sql<boolean>`(letter.kind = 'confirmation'
  and (sent_at is not null or attempts > 0 and next_try_at > now() and refusal is null and withdrawn_at is null))`;

/** Makes a new letter for each confirmation that was sent, since mail programs show the same letter only once. */
async function sendConfirmationsAgain(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config' | 'now'>,
  joins: readonly string[],
): Promise<void> {
  const at = deps.now().toISOString();
  const { rows } = await sql<{ sessionUuid: string; occasion: string }>`
    select distinct session_uuid as "sessionUuid", split_part(occasion, ' ', 1) || ' ' || ${at} as occasion from letter
    where session_uuid = any(${joins}::uuid[]) and ${isSentConfirmation}`.execute(trx);
  await dueLetters(
    trx,
    deps,
    rows.map((row) => ({ kind: 'confirmation' as const, ...row })),
  );
}

/**
 * Returns the details before and after a correction, and its effects. Throws {@link NotCorrectable}, and {@link ChangedMeanwhile}
 * if the person was merged.
 */
async function plan(database: Kysely<Tables>, personId: number, change: Change, currentYear: number) {
  const { rows } = await sql<{
    details: StudentDetails | null;
    profile: ContactProfile;
    mergedInto: number | null;
    isPaid: boolean;
    joins: string[];
    confirmations: number;
    written: number;
  }>`
    select details, profile, merged_into as "mergedInto",
      exists (select from join_session where person_id = person.id and state = 'paid') as "isPaid",
      array(select uuid::text from join_session where person_id = person.id order by uuid) as joins,
      (select count(distinct session_uuid)::int from letter join join_session on uuid = session_uuid
        where person_id = person.id and ${isSentConfirmation}) as confirmations,
      (select count(*)::int from letter join join_session on uuid = session_uuid
        where person_id = person.id and letter.kind = 'confirmation') as written
    from person where id = ${personId} and erased_at is null`.execute(database);
  const [row] = rows;
  if (!row) throw new NotCorrectable('The person was erased.');
  if (row.mergedInto !== null) throw new ChangedMeanwhile();
  if (row.details === null && !row.isPaid)
    throw new NotCorrectable(
      'Nobody has joined as this person yet: correct the contact in HubSpot, or import its line again.',
    );
  const before = row.details ?? detailsOf(row.profile);
  const after = cleanDetails({ ...before, ...change });
  const fields = correctable.flatMap((field) =>
    after[field] === before[field] ? [] : [{ field, from: before[field], to: after[field] }],
  );
  const all = studentDetailsErrors(
    { ...after, hasGuardianConsent: true },
    { currentYear, country: countryRule, asksGuardianConsent: false },
  );
  if (!isProviderEmail(after.personalEmail)) all.personalEmail ??= INVALID_EMAIL;
  const errors = Object.fromEntries(
    fields.flatMap(({ field }) => (all[field] ? [[field, all[field]]] : [])),
  ) as NotCorrectable['errors'];
  if (Object.keys(errors).length > 0) throw new NotCorrectable(Object.values(errors).join(' '), errors);
  const { isPaid, joins, confirmations, written } = row;
  const correction: Correction = { fields, joins, confirmations, written };
  return { before: { details: before, isPaid }, after, correction };
}

/** Returns a contact's data in the fields of the student details, with the form's names of countries and states. */
function detailsOf(profile: ContactProfile): StudentDetails {
  const known = knownOf(profile);
  const fields = Object.keys(noDetails) as StudentDetailsField[];
  const texts = fields.map((field) => [field, known[contactFieldOf(field)] ?? '']);
  return {
    ...noDetails,
    ...Object.fromEntries(texts),
    agreeToPolicies: profile.acceptedPrivacyPolicy === true,
  };
}
