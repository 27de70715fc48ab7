import { type Kysely, sql } from 'kysely';
import { identityNotes } from '#core/intentText.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import {
  cleanDetails,
  noDetails,
  type StudentDetails,
  type StudentDetailsField,
  studentDetailsErrors,
} from '#core/studentDetails.ts';
import { attemptsAnew, hubspotIsToHear } from '../contacts/tellHubspot.ts';
import type { Deps } from '../deps.ts';
import { merge } from '../join/getContact.ts';
import { country } from '../join/submitDetails.ts';
import type { ContactProfile, Tables } from '../platform/database/types.ts';

/** The fields that can be corrected. */
export const correctable = [
  'firstName',
  'middleName',
  'lastName',
  'personalEmail',
  'schoolEmail',
  'country',
  'address1',
  'address2',
  'city',
  'state',
  'zipcode',
] as const satisfies readonly StudentDetailsField[];
export type CorrectableField = (typeof correctable)[number];

/** One field of a correction, with its value before and after. */
export interface Corrected {
  field: CorrectableField;
  from: string;
  to: string;
}

/** What a correction does: shown before, and returned after. */
export interface Correction {
  fields: Corrected[];
  /** The joins that the correction is about. */
  joins: string[];
  /** How many sent confirmations would be sent again. */
  confirmations: number;
}

/** Thrown if a correction is refused. The message is for staff. */
export class NotCorrectable extends Error {}

/** Thrown if a person was changed since `seen` was shown. Nothing was corrected. */
export class ChangedMeanwhile extends Error {}

/** Returns what a correction of a person would do. Changes nothing. Throws {@link NotCorrectable}. */
export async function previewCorrection(
  { database, now }: Pick<Deps, 'database' | 'now'>,
  personId: number,
  change: Partial<Record<CorrectableField, string>>,
): Promise<Correction> {
  return (await plan(database, personId, change, now().getFullYear())).correction;
}

/**
 * Corrects a person as staff have seen it in `seen` ({@link previewCorrection}). What follows:
 * - letters still to come, papers, HubSpot and finding; with `resends` the confirmations are sent again;
 * - joins that are not paid, whose typed details are corrected as well;
 * - if the email changes, links in letters end, since who had the old address may have them;
 * - at Stripe, the notes of the intents, from which a lost join is made again. Stripe's receipts stay as they were sent.
 * Stripe is told first: if it does not answer, nothing is corrected, and the call is safe to repeat.
 * Throws {@link NotCorrectable} and {@link ChangedMeanwhile}.
 */
export async function correctPerson(
  deps: Deps,
  personId: number,
  change: Partial<Record<CorrectableField, string>>,
  { seen, resends }: { seen: Correction; resends: boolean },
): Promise<Correction> {
  const year = deps.now().getFullYear();
  const { after } = await plan(deps.database, personId, change, year);
  const { rows: intents } = await sql<{ id: string }>`
    select intent_id as id from payment join join_session on uuid = session_uuid
    where person_id = ${personId} and payment.status in ('open', 'succeeded')`.execute(deps.database);
  for (const { id } of intents) await deps.payments.writeNotes(id, identityNotes(after));
  return deps.database.transaction().execute(async (trx) => {
    await sql`select from join_session where person_id = ${personId} order by uuid for no key update`.execute(
      trx,
    );
    const likeness = likenessOf(after);
    if (likeness !== null)
      await sql`select pg_advisory_xact_lock(hashtextextended('likeness ' || ${likeness}, 0))`.execute(trx);
    await sql`select from person where id = ${personId} for update`.execute(trx);
    const { correction } = await plan(trx, personId, change, year);
    if (JSON.stringify(correction.fields) !== JSON.stringify(seen.fields)) throw new ChangedMeanwhile();
    if (correction.fields.length === 0) return correction;
    const changed = Object.fromEntries(correction.fields.map(({ field, to }) => [field, to]));
    await sql`
      update person set details = ${JSON.stringify(after)}::jsonb, likeness = ${likeness}, words = ${searchWords(after)} || ' ' || words
      where id = ${personId}`.execute(trx);
    await sql`
      update join_session set details = case when state <> 'paid' then details || ${JSON.stringify(changed)}::jsonb else details end,
        crm_refusal = null, crm_attempts = ${attemptsAnew}, ${hubspotIsToHear}, updated_at = now()
      where person_id = ${personId}`.execute(trx);
    if ('personalEmail' in changed) await endLinks(trx, deps, correction.joins);
    if (resends) await sendConfirmationsAgain(trx, correction.joins);
    for (const uuid of correction.joins)
      await sql`select record_event(${uuid}::uuid, 'details_corrected', 'joiner', ${JSON.stringify({ fields: Object.keys(changed) })}::jsonb)`.execute(
        trx,
      );
    return correction;
  });
}

/** Ends the links in letters of these joins: who reads mail at the old address may have them. */
async function endLinks(
  trx: Kysely<Tables>,
  { now }: Pick<Deps, 'now'>,
  joins: readonly string[],
): Promise<void> {
  await sql`
    insert into pass (session_uuid, revoked_at) select uuid, ${now()}::timestamptz from unnest(${joins}::uuid[]) as uuid
    on conflict (session_uuid) do update set revoked_at = excluded.revoked_at, code_hash = null, code_browser = null, code_expires_at = null`.execute(
    trx,
  );
}

const isSentConfirmation = sql<boolean>`(kind = 'confirmation' and sent_at is not null)`;

async function sendConfirmationsAgain(trx: Kysely<Tables>, joins: readonly string[]): Promise<void> {
  await sql`
    update letter set sent_at = null, email = null, attempts = 0, due_at = now(), next_try_at = now()
    where session_uuid = any(${joins}::uuid[]) and ${isSentConfirmation}`.execute(trx);
}

/** Returns the details after a correction, and what it does. */
async function plan(
  database: Kysely<Tables>,
  personId: number,
  change: Partial<Record<CorrectableField, string>>,
  currentYear: number,
): Promise<{ after: StudentDetails; correction: Correction }> {
  const { rows } = await sql<{
    details: StudentDetails | null;
    profile: ContactProfile;
    joins: string[];
    confirmations: number;
  }>`
    select details, profile,
      array(select uuid::text from join_session where person_id = person.id order by uuid) as joins,
      (select count(*)::int from letter join join_session on uuid = session_uuid
        where person_id = person.id and ${isSentConfirmation}) as confirmations
    from person where id = ${personId} and erased_at is null`.execute(database);
  const [row] = rows;
  if (!row) throw new NotCorrectable('The person was erased.');
  const before = row.details ?? detailsOf(row.profile);
  const after = cleanDetails({ ...before, ...change });
  const fields = correctable.flatMap((field) =>
    after[field] === before[field] ? [] : [{ field, from: before[field], to: after[field] }],
  );
  const errors = studentDetailsErrors(
    { ...after, hasGuardianConsent: true },
    { currentYear, country, asksGuardianConsent: false },
  );
  const wrong = fields.flatMap(({ field }) => errors[field] ?? []);
  if (wrong.length > 0) throw new NotCorrectable(wrong.join(' '));
  return { after, correction: { fields, joins: row.joins, confirmations: row.confirmations } };
}

/** Returns what a contact's record says, in the fields of the student details. */
function detailsOf(profile: ContactProfile): StudentDetails {
  const { address, zip, acceptedPrivacyPolicy, ...contact } = merge(profile, null, null);
  const known = { ...contact, address1: address, zipcode: zip };
  const texts = Object.keys(noDetails).map((field) => [field, known[field as keyof typeof known] ?? '']);
  return { ...noDetails, ...Object.fromEntries(texts), agreeToPolicies: acceptedPrivacyPolicy };
}
