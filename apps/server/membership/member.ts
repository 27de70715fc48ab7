import { sql } from 'kysely';
import { cleanText } from '#core/cleanText.ts';
import { type Holding, seesJoiner } from '#core/holding.ts';
import { displayMemberNumber, verifyPath } from '#core/memberNumber.ts';
import { type Paper, paperOf } from '#core/paper.ts';
import { PROVE_FIRST } from '#core/pass.ts';
import { isPlainlyPrintable } from '#core/printedText.ts';
import { isHeld, type MembershipStanding } from '#core/refunds.ts';
import { findCountry } from '#reference/countries.ts';
import { countingWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal, sessionNotFound } from '../platform/http/refusal.ts';
import { baseMembership } from '../session/members.ts';
import { fullName, personField } from '../session/person.ts';
import { standingFor } from '../session/standing.ts';
import { dateOf, fillIn } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import type { Certificate } from './drawCertificate.ts';
import { type PressRelease, writeRelease } from './pressRelease.ts';

const ENDED = 'This membership is no longer valid, so it has no certificate.';
const NOT_BOUGHT_HERE =
  'The membership below this upgrade was not bought here, so we cannot print its certificate. Please contact us.';
const NO_NAME = 'We do not know your name, so we cannot print your certificate. Please contact us.';

/** The facts about a member for the papers. */
export interface Member {
  uuid: string;
  /** The member's full name, after `cleanText`. */
  name: string;
  school: string | null;
  city: string | null;
  state: string | null;
  paper: Paper;
  number: string;
  isVerifiable: boolean;
  programme: string;
  distinction: string | null;
  paidAt: Date;
}

interface MemberRow {
  is_within: boolean;
  name: string | null;
  school: string | null;
  city: string | null;
  region: string | null;
  country: string | null;
  member_number: string | null;
  standing: MembershipStanding | null;
  is_unlisted: boolean | null;
  programme: string | null;
  succeeded_at: Date | null;
  upgrades: number[];
}

/**
 * Reads the member of a join and counts the request against the limit for papers, as a paper or as a picture. Throws a
 * {@link Refusal}:
 * - 404: there is no such join, or the browser does not hold it.
 * - 403: the browser may not see who the joiner is.
 * - 429: the limit is exceeded.
 * - 409: the join is not paid, has no held membership that was bought here, or has no name.
 */
export async function readMember(
  deps: Deps,
  uuid: string,
  { holding, counted = 'papers' }: { holding: Holding; counted?: 'papers' | 'picture' },
): Promise<Member> {
  const limit = deps.config.limits?.papersPerSession;
  const standing = await standingFor(deps, 'readUpgrade', uuid, holding);
  if (!seesJoiner(holding, standing)) throw new Refusal(403, PROVE_FIRST);
  const { rows } = await sql<MemberRow>`
    with ${countingWithin(counted, uuid, limit)}
    select is_within, ${fullName} as name, ${personField('highSchoolName')} as school, ${personField('city')} as city,
      ${personField('state')} as region, ${personField('country')} as country, base.member_number, base.standing, base.is_unlisted,
      bought.programme, succeeded_at,
      array(select product_id from membership upgrade where type = 'membership_upgrade' and is_held
        and (upgrade.session_uuid = base.session_uuid or upgrade.person_id = base.person_id) order by id) as upgrades
    from within cross join join_session session left join person on person.id = session.person_id
      left join lateral ${baseMembership} as base on true
      left join join_session bought on bought.uuid = base.session_uuid
      left join payment on payment.intent_id = base.payment_intent
    where session.uuid = ${uuid}`.execute(deps.database);
  const row = rows[0];
  if (!row) throw sessionNotFound();
  if (!row.is_within) throw new Refusal(429, TOO_MANY, { retryAfter: limit!.minutes * 60 });
  if (row.standing === null || row.member_number === null)
    throw new Refusal(409, row.upgrades.length > 0 ? NOT_BOUGHT_HERE : ENDED);
  if (!isHeld(row.standing)) throw new Refusal(409, ENDED);
  const name = cleanText(row.name ?? '');
  if (name === '') throw new Refusal(409, NO_NAME);
  const country = row.country === null ? undefined : findCountry(row.country);
  return {
    uuid,
    name,
    school: row.school && cleanText(row.school),
    city: row.city && cleanText(row.city),
    state: row.region && cleanText(row.region),
    paper: paperOf(country?.code),
    number: row.member_number,
    isVerifiable: !row.is_unlisted,
    programme: row.programme!,
    distinction: distinctionOf(deps, row.upgrades),
    paidAt: row.succeeded_at!,
  };
}

/**
 * Whether the society's file has a programme. If the file lacks the programme, no papers must be made: they would name the
 * default programme instead.
 */
export function hasProgramme({ society }: Pick<Deps, 'society'>, programme: string): boolean {
  return Object.hasOwn(society.programmes, programme);
}

function distinctionOf({ society }: Pick<Deps, 'society'>, upgrades: readonly number[]): string | null {
  return upgrades.map((id) => society.product(id)?.distinction).find((text) => text !== undefined) ?? null;
}

function verifyUrl({ config }: Pick<Deps, 'config'>, { number }: Member): string {
  return config.publicUrl + verifyPath(number);
}

export function certificateOf(deps: Deps, member: Member): Certificate {
  const { society } = deps;
  return {
    society: society.society.name,
    colours: society.society.colours,
    name: member.name,
    citation: fillIn(society.certificate.citation, society, member.programme),
    programme: society.programme(member.programme).name,
    distinction: member.distinction,
    since: dateOf(society, member.paidAt),
    sinceTime: member.paidAt,
    number: displayMemberNumber(member.number),
    verifyUrl: verifyUrl(deps, member),
    signatures: society.certificate.signatures,
  };
}

/** Returns a member's press release. Facts for which `isPrintable` returns false are left out. */
export function pressReleaseOf(
  deps: Deps,
  member: Member,
  isPrintable: (text: string) => boolean = () => true,
): PressRelease {
  const { society } = deps;
  const { name, supportPhone, supportEmail, links, colours } = society.society;
  const fill = (text: string) => fillIn(text, society, member.programme);
  const given = (text: string | null) => (text !== null && isPrintable(text) ? text : null);
  const { why, quote, about } = society.pressRelease;
  // Student Details asks only for the high school, which is not where an undergraduate studies.
  const { name: programme, isTOLA } = society.programme(member.programme);
  return writeRelease(
    {
      name: member.name,
      school: isTOLA ? given(member.school) : null,
      city: given(member.city),
      state: given(member.state),
      programme,
      distinction: member.distinction,
      since: dateOf(society, member.paidAt),
      verifyUrl: member.isVerifiable ? verifyUrl(deps, member) : null,
      society: { name, phone: supportPhone, email: supportEmail, website: links.whoWeAre },
      words: {
        why: why === undefined ? null : fill(why),
        quote: quote === undefined ? null : { text: fill(quote.text), by: fill(quote.by) },
        about: about === undefined ? null : fill(about),
      },
    },
    { colours, sinceTime: member.paidAt },
  );
}

/** Returns the characters of a text that the typeface lacks. Asks the printer's thread only if the text has unusual characters. */
export async function unprintable({ printer }: Pick<Deps, 'printer'>, text: string): Promise<string[]> {
  return isPlainlyPrintable(text) ? [] : printer.print({ kind: 'missing', text });
}
