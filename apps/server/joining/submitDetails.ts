import { sql } from 'kysely';
import { type Holding, isOpenIn, type JoinAccess, seesJoiner } from '#core/holding.ts';
import { PROVE_FIRST } from '#core/pass.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { DETAILS_NOT_ACCEPTED } from '#core/sentences.ts';
import {
  cleanDetails,
  graduationYears,
  type StudentDetails,
  type SubmittedDetails,
  studentDetailsErrors,
} from '#core/studentDetails.ts';
import { countryRule, findCountry } from '#reference/countries.ts';
import { findSubdivision } from '#reference/lookup.ts';
import { makeDue } from '../crm/queuePersonsForHubspot.ts';
import { insertReminders } from '../letters/remind.ts';
import { whileFrozen } from '../paying/settlePaying.ts';
import { statement } from '../platform/database/statement.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { guardianConsentOf, keepGuardianConsent } from '../session/guardianConsent.ts';
import { accessOf, refusalFor } from '../session/standing.ts';
import { stateAllows, transitions } from '../session/states.ts';
import { wordsTyped } from '../session/words.ts';
import type { Deps } from './deps.ts';

/**
 * The details are sent to HubSpot only after this many seconds. By then most joiners have paid, so that one call to HubSpot
 * writes both the details and the purchase.
 */
const TELL_AFTER_SECONDS = 120;
const DAY_MS = 86_400_000;

/**
 * Returns the year in which a page offered this graduation year: the present year, or that of yesterday or tomorrow, because
 * around New Year it may be another year where the joiner is.
 */
function yearOfPage(now: Date, graduationYear: string): number {
  const years = [0, -DAY_MS, DAY_MS].map((ms) => new Date(now.getTime() + ms).getFullYear());
  return years.find((year) => graduationYears(year).includes(graduationYear)) ?? years[0]!;
}

/**
 * Saves the details of a join that is neither paid nor being paid. The details are checked by the same rules as on the page.
 * Throws 403 for a browser that may not see who the joiner is, because letters go to the email that it would enter, and with them
 * the code that proves who the joiner is.
 */
export async function submitDetails(
  deps: Deps,
  uuid: string,
  holding: Holding,
  given: SubmittedDetails & { isTOLA?: boolean },
): Promise<void> {
  const { isTOLA: _, hasGuardianConsent, ...sent } = given;
  // The contract has cleaned the details. The state's name can show that a ZIP code has lost its leading zero.
  const state = stateOf(sent);
  const details = state === sent.state ? sent : cleanDetails({ ...sent, state });
  const join = await readJoin(deps, uuid, holding);
  const guardianConsent = guardianConsentOf(deps.society, join.programme);
  const currentYear = yearOfPage(deps.now(), details.highSchoolGraduationYear);
  const errors = studentDetailsErrors(
    { ...details, hasGuardianConsent },
    { currentYear, country: countryRule, asksGuardianConsent: guardianConsent !== null },
  );
  if (Object.keys(errors).length > 0) throw new Refusal(400, DETAILS_NOT_ACCEPTED, { errors });
  const email = details.personalEmail.toLowerCase();
  // Whether the person has not paid, and these are the join's first details. A person who has paid keeps the details with which
  // they paid, until they pay again.
  const isFirst = sql<boolean>`(not exists (select from join_session paid where paid.person_id = excluded.person_id and paid.state = 'paid')
    and exists (select from join_session before where before.uuid = ${uuid} and before.details is null))`;
  const save = async () => {
    const { rows } = await sql<{ uuid: string }>`
    with saved as (
    update join_session set
      details = ${JSON.stringify(details)}::jsonb,
      has_agreed_to_policies = true,
      ${keepGuardianConsent(guardianConsent)},
      ${transitions.submitDetails}
    where uuid = ${uuid} and ${stateAllows('submitDetails')} and (proven_at is not null) = ${join.isProven}
    returning uuid, person_id
    ), known as (
      update person set details = ${JSON.stringify(details)}::jsonb, likeness = ${likenessOf(details)},
        words = ${wordsTyped(searchWords(details))},
        found_contact_id = case when lower(person.details ->> 'personalEmail') = ${email} then found_contact_id end
      from saved where person.id = person_id and not exists (select from join_session paid where paid.person_id = person.id and paid.state = 'paid')
    ), told as (${makeDue(sql`(select person_id from saved)`, { afterSeconds: TELL_AFTER_SECONDS, isAnew: true, isShown: isFirst })}
    ), due as (${insertReminders(deps, { uuid, programme: join.programme })})
    select uuid from saved`.execute(deps.database);
    return rows[0];
  };
  if (!(await whileFrozen(deps, uuid, holding, save)))
    throw await refusalFor(deps, 'submitDetails', uuid, { holding });
}

/** Returns a join that this browser may continue, whatever its state. Throws 403 if the browser may not see who the joiner is. */
async function readJoin(
  deps: Deps,
  uuid: string,
  holding: Holding,
): Promise<JoinAccess & { programme: string }> {
  const { rows } = await readAccess(deps.database, { uuid });
  const [join] = rows;
  if (!join || !isOpenIn(holding, join)) throw await refusalFor(deps, 'submitDetails', uuid, { holding });
  if (!seesJoiner(holding, join)) throw new Refusal(403, PROVE_FIRST);
  return join;
}

const readAccess = statement<{ uuid: string }, JoinAccess & { programme: string }>(
  ({ uuid }) => sql`select ${accessOf('join_session')}, programme from join_session where uuid = ${uuid}`,
);

/**
 * Returns the listed name of a state. A page that could not load its country's list has a text field, in which anything can be
 * typed.
 */
function stateOf({ country: name, state }: StudentDetails): string {
  const country = findCountry(name);
  return (country && findSubdivision(country, state)?.name) ?? state;
}
