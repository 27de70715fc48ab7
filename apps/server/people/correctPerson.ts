import { type Kysely, sql } from 'kysely';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { isProviderEmail } from '#core/providerEmail.ts';
import {
  cleanDetails,
  INVALID_EMAIL,
  noDetails,
  type StudentDetails,
  type StudentDetailsField,
  studentDetailsErrors,
} from '#core/studentDetails.ts';
import { findCountry } from '#reference/countries.ts';
import { findSubdivision } from '#reference/lookup.ts';
import {
  attachAnew,
  hubspotIsToHear,
  isAttached,
  isOfJoinsOf,
  makeDue,
  toldTogether,
} from '../crm/hubspotIsToHear.ts';
import type { Deps } from '../deps.ts';
import { merge } from '../join/getContact.ts';
import { country } from '../join/submitDetails.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { ContactProfile, Tables } from '../platform/database/types.ts';
import { othersOfPayer, tellOfTwice } from '../refunds/membershipStanding.ts';
import { joinHolds } from '../session/members.ts';
import { wordsWith } from '../session/words.ts';
import { writeNotes } from './writeNotes.ts';

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
export type Change = Partial<Record<CorrectableField, string>>;

/** One field of a correction, with its value before and after. */
export interface Corrected {
  field: CorrectableField;
  from: string;
  to: string;
}

/** What a correction does: shown before, and returned after. */
export interface Correction {
  fields: Corrected[];
  /** The uuids of the person's joins. */
  joins: string[];
  /** How many confirmations were sent and can be sent again. */
  confirmations: number;
}

/** How a person is corrected. */
interface Wanted {
  /** What was shown. */
  seen: Correction;
  /** Whether the confirmations are sent again. */
  resends: boolean;
  /** Whether a letter to the former email says that it was changed. */
  tellsFormer?: boolean;
}

/** Thrown if a correction is refused. The message is for staff; `errors` has a sentence for each wrong field. */
export class NotCorrectable extends Error {
  readonly errors: Partial<Record<CorrectableField, string>>;
  constructor(message: string, errors: Partial<Record<CorrectableField, string>> = {}) {
    super(message);
    this.errors = errors;
  }
}

/** Thrown if a person was changed since `seen` was shown. Nothing was corrected. */
export class ChangedMeanwhile extends Error {}

/** Returns what a correction of a person would do. Changes nothing. Throws {@link NotCorrectable}. */
export async function previewCorrection(
  { database, now }: Pick<Deps, 'database' | 'now'>,
  personId: number,
  change: Change,
): Promise<Correction> {
  return (await plan(database, personId, change, now().getFullYear())).correction;
}

/**
 * Corrects a person as staff or the joiner have seen it in `seen` ({@link previewCorrection}). What follows:
 * - letters still to come, papers, HubSpot and finding; with `resends` the confirmations are sent again;
 * - joins that are not paid, whose typed details are corrected as well;
 * - if the email changes: links in letters end, since who had the old address may have them, and a contact that HubSpot had under
 *   the old address says nothing of the purchases any more;
 * - at Stripe, the notes of the intents, from which a lost join is made again. Stripe's receipts stay as they were sent.
 *
 * Stripe is told first: if it does not answer, nothing is corrected, and the call is safe to repeat. If nothing is corrected, Stripe is
 * told what holds. Throws {@link NotCorrectable} and {@link ChangedMeanwhile}.
 */
export async function correctPerson(
  deps: Deps,
  personId: number,
  change: Change,
  { seen, resends, tellsFormer = false }: Wanted,
): Promise<Correction> {
  const { after, correction } = await plan(deps.database, personId, change, deps.now().getFullYear());
  requireSeen(seen, correction);
  const joins = sql`person_id = ${personId}`;
  await writeNotes(deps, joins, after);
  try {
    return await writeCorrection(deps, personId, change, { seen, resends, tellsFormer });
  } catch (error) {
    const { rows } = await sql<{ details: StudentDetails | null }>`
      select details from person where id = ${personId}`.execute(deps.database);
    if (rows[0]?.details) await writeNotes(deps, joins, rows[0].details);
    throw error;
  }
}

function writeCorrection(
  deps: Deps,
  personId: number,
  change: Change,
  { seen, resends, tellsFormer = false }: Wanted,
): Promise<Correction> {
  return transaction(deps, async (trx) => {
    await sql`select from join_session where person_id = ${personId} order by uuid for no key update`.execute(
      trx,
    );
    const { before, after, correction } = await plan(trx, personId, change, deps.now().getFullYear());
    requireSeen(seen, correction);
    const { fields, joins } = correction;
    // What was paid for under the former names and email is found by them, too.
    const known = [after, ...(before.isPaid ? [before.details] : [])]
      .map((one) => searchWords(one))
      .join(' ');
    const likeness = likenessOf(after);
    if (likeness !== null)
      await sql`select pg_advisory_xact_lock(hashtextextended('likeness ' || ${likeness}, 0))`.execute(trx);
    await sql`select from person where id = ${personId} for update`.execute(trx);
    const told = await toldTogether(trx, [personId]);
    const changed = Object.fromEntries(fields.map(({ field, to }) => [field, to]));
    const isOtherEmail = 'personalEmail' in changed;
    if (fields.length > 0) {
      const { rows: attached } = await sql`
        select from person where id = ${personId} and found_contact_id is not null and ${isAttached('person')}`.execute(
        trx,
      );
      if (isOtherEmail && attached.length > 0) await attachAnew(trx, isOfJoinsOf(sql`${personId}`));
      await sql`
        update person set details = ${JSON.stringify(after)}::jsonb, likeness = ${likeness}, words = ${wordsWith(sql`${known}::text`)},
          found_contact_id = case when ${isOtherEmail} then null else found_contact_id end
        where id = ${personId}`.execute(trx);
      await sql`
        update join_session set details = case when state <> 'paid' then details || ${JSON.stringify(changed)}::jsonb else details end,
          updated_at = now()
        where person_id = ${personId}`.execute(trx);
      await hubspotIsToHear(trx, told, { isAnew: true });
      if (isOtherEmail) await leaveAttached(trx, personId);
      for (const uuid of joins)
        await sql`insert into join_event (session_uuid, step, cause, detail) values (${uuid}, 'details_corrected', unless_staff('joiner'), ${JSON.stringify({ fields: Object.keys(changed) })}::jsonb)`.execute(
          trx,
        );
      await tellOfLikelySame(trx, joins);
    }
    if (isOtherEmail) {
      await endLinks(trx, deps, joins);
      await retryRefused(trx, joins);
    }
    const former = fields.find(({ field }) => field === 'personalEmail')?.from;
    if (tellsFormer && former && isProviderEmail(former))
      await dueLetters(trx, deps, [
        { kind: 'email-changed', sessionUuid: joins[0]!, occasion: deps.now().toISOString(), email: former },
      ]);
    if (resends) await sendConfirmationsAgain(trx, deps, joins);
    return correction;
  });
}

function requireSeen(seen: Correction, now: Correction): void {
  if (JSON.stringify(seen.fields) !== JSON.stringify(now.fields)) throw new ChangedMeanwhile();
}

/**
 * Lets others whose email has found the contact that this person's join created look for another: its email is corrected, too. They
 * wait until that is done.
 */
async function leaveAttached(trx: Kysely<Tables>, personId: number): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    update person attached set found_contact_id = null from person own
    where own.id = ${personId} and own.made_contact and attached.found_contact_id = own.contact_id returning attached.id`.execute(
    trx,
  );
  const ids = rows.map(({ id }) => id);
  await attachAnew(trx, isOfJoinsOf(sql`any(${ids}::bigint[])`));
  await makeDue(sql`(select unnest(${ids}::bigint[]))`, { afterSeconds: 5 }).execute(trx);
}

/** Tells staff if a corrected person is likely the same as somebody else who holds a membership, too. */
async function tellOfLikelySame(trx: Kysely<Tables>, joins: readonly string[]): Promise<void> {
  const { rows } = await sql<{ uuid: string }>`
    select uuid from join_session where uuid = any(${joins}::uuid[]) and ${joinHolds('uuid', 'membership')} order by paid_at`.execute(
    trx,
  );
  if (rows[0]) await tellOfTwice(trx, rows[0].uuid, await othersOfPayer(trx, rows[0].uuid));
}

/** Ends the links in letters of these joins, those that are still to be sent included: who reads the old address may have them. */
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
  await sql`
    update letter set withdrawn_at = now()
    where session_uuid = any(${joins}::uuid[]) and email is not null and sent_at is null and withdrawn_at is null`.execute(
    trx,
  );
}

/** Sends the letters again that the former address refused. */
async function retryRefused(trx: Kysely<Tables>, joins: readonly string[]): Promise<void> {
  await sql`
    update letter set refusal = null, attempts = 0, next_try_at = now(), due_at = now()
    where session_uuid = any(${joins}::uuid[]) and refusal is not null and sent_at is null and email is null`.execute(
    trx,
  );
}

/** SQL for whether a confirmation was sent, or is at this moment on its way, perhaps to the former email. */
const isSentConfirmation = sql<boolean>`(letter.kind = 'confirmation'
  and (sent_at is not null or attempts > 0 and next_try_at > now() and refusal is null and withdrawn_at is null))`;

/** Makes a letter for each confirmation that was sent: another letter, since mail programs show one letter only once. */
async function sendConfirmationsAgain(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config' | 'now'>,
  joins: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ sessionUuid: string; intentId: string }>`
    select distinct session_uuid as "sessionUuid", split_part(occasion, ' ', 1) as "intentId" from letter
    where session_uuid = any(${joins}::uuid[]) and ${isSentConfirmation}`.execute(trx);
  await dueLetters(
    trx,
    deps,
    rows.map(({ sessionUuid, intentId }) => ({
      kind: 'confirmation' as const,
      sessionUuid,
      occasion: `${intentId} ${deps.now().toISOString()}`,
    })),
  );
}

/**
 * Returns the details before and after a correction, and what it does. Throws {@link NotCorrectable}, and {@link ChangedMeanwhile} if the
 * person was merged.
 */
async function plan(
  database: Kysely<Tables>,
  personId: number,
  change: Change,
  currentYear: number,
): Promise<{
  before: { details: StudentDetails; isPaid: boolean };
  after: StudentDetails;
  correction: Correction;
}> {
  const { rows } = await sql<{
    details: StudentDetails | null;
    profile: ContactProfile;
    mergedInto: number | null;
    isPaid: boolean;
    joins: string[];
    confirmations: number;
  }>`
    select details, profile, merged_into as "mergedInto",
      exists (select from join_session where person_id = person.id and state = 'paid') as "isPaid",
      array(select uuid::text from join_session where person_id = person.id order by uuid) as joins,
      (select count(distinct session_uuid)::int from letter join join_session on uuid = session_uuid
        where person_id = person.id and ${isSentConfirmation}) as confirmations
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
    { currentYear, country, asksGuardianConsent: false },
  );
  if (!isProviderEmail(after.personalEmail)) all.personalEmail ??= INVALID_EMAIL;
  const errors = Object.fromEntries(
    fields.flatMap(({ field }) => (all[field] ? [[field, all[field]]] : [])),
  ) as NotCorrectable['errors'];
  if (Object.keys(errors).length > 0) throw new NotCorrectable(Object.values(errors).join(' '), errors);
  return {
    before: { details: before, isPaid: row.isPaid },
    after,
    correction: { fields, joins: row.joins, confirmations: row.confirmations },
  };
}

/** Returns what a contact's record says, in the fields of the student details, and in the names that the form has. */
function detailsOf(profile: ContactProfile): StudentDetails {
  const { address, zip, acceptedPrivacyPolicy, ...contact } = merge(profile, null, null);
  const listed = findCountry(contact.country ?? '');
  const known = {
    ...contact,
    address1: address,
    zipcode: zip,
    country: listed?.name ?? contact.country,
    state: (listed && findSubdivision(listed, contact.state ?? '')?.name) ?? contact.state,
  };
  const texts = Object.keys(noDetails).map((field) => [field, known[field as keyof typeof known] ?? '']);
  return { ...noDetails, ...Object.fromEntries(texts), agreeToPolicies: acceptedPrivacyPolicy };
}
