import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { cleanText } from '#core/cleanText.ts';
import type { Holding } from '#core/holding.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { isHeld, type MembershipStanding } from '#core/refunds.ts';
import { paperProblem } from '../certificate/paperProblem.ts';
import type { Deps } from '../deps.ts';
import { rejectionOf } from '../documents/sessionDocuments.ts';
import { duplicatesOf } from '../payments/duplicates.ts';
import { isHeldBy, isOpenTo } from '../session/holding.ts';
import { baseMembership } from '../session/members.ts';
import { firstName, fullName, payerEmails, receiptEmail } from '../session/person.ts';
import { readStanding, refusalFor } from '../session/standing.ts';
import { receiptOf } from './receipt.ts';

/**
 * Returns the data of the welcome page. Only a browser that holds the join gets personal data. The standing of the membership is
 * shown to everybody with the uuid, until somebody has proven to be the joiner; after that only to browsers that hold the join.
 */
export async function readWelcome(deps: Deps, uuid: string, holding: Holding): Promise<Data<'getWelcome'>> {
  const standing = await readStanding(deps, uuid);
  if (standing?.state !== 'paid') throw await refusalFor(deps, 'readUpgrade', uuid);
  const { rows } = await sql<{
    is_its_browser: boolean;
    is_open: boolean;
    first_name: string | null;
    emails: (string | null)[];
    full_name: string | null;
    member_number: string | null;
    is_unlisted: boolean | null;
    base_programme: string | null;
    bought: { type: 'membership' | 'membership_upgrade'; name: string; standing: MembershipStanding }[];
  }>`
    select ${isHeldBy(holding)} as is_its_browser, ${isOpenTo(holding)} as is_open, ${firstName} as first_name, ${fullName} as full_name, ${payerEmails} || array(select receipt_email from payment where session_uuid = session.uuid order by created_at) as emails, base.member_number, base.is_unlisted,
      (select programme from join_session where uuid = base.session_uuid) as base_programme, coalesce((
        select json_agg(json_build_object('type', membership.type, 'name', line ->> 'name', 'standing', standing) order by membership.type, id)
        from membership join payment on intent_id = payment_intent
        join order_snapshot snapshot on snapshot.session_uuid = payment.session_uuid and snapshot.kind = payment.kind
          and snapshot.revision = payment.revision, jsonb_array_elements(items) as line
        where membership.session_uuid = session.uuid and (line ->> 'productId')::int = product_id), '[]') as bought
    from join_session session left join contact on contact.id = contact_id
      left join lateral ${baseMembership} as base on base.is_held
    where session.uuid = ${uuid}`.execute(deps.database);
  const isItsBrowser = rows[0]?.is_its_browser ?? false;
  const programme = deps.society.programme(standing.programme);
  if (!rows[0]?.is_open) return { ...TOLD_TO_ANYBODY, programme: programme.name };
  const bought = rows[0]?.bought ?? [];
  // Void memberships count only if there are no others.
  const real = bought.filter((one) => one.standing !== 'void');
  const memberships = real.length > 0 ? real : bought;
  const isOver = memberships[0] !== undefined && !isHeld(memberships[0].standing);
  // An upgrade by link owes no proof itself. The membership that is its base owes the proof.
  const isMembership = memberships.some(({ type }) => type === 'membership');
  const rejection = await rejectionOf(deps, uuid);
  const isAsked = standing.isSelfNomination || rejection?.isFinal === false;
  return {
    firstName: isItsBrowser ? (rows[0]?.first_name ?? null) : null,
    receipt: isItsBrowser ? await receiptOf(deps, uuid) : null,
    memberships: memberships.map(({ name, standing }) => ({ name, standing })),
    owesTranscript:
      isMembership && !isOver && (programme.transcriptRequired || isAsked) && !standing.hasTranscript,
    rejection: rejection?.message ?? null,
    programme: programme.name,
    email: isItsBrowser ? receiptEmail(rows[0]!.emails) : null,
    unwritable: isItsBrowser ? unwritableOf(rows[0]!.emails) : null,
    papers: isItsBrowser && rows[0] ? await papersOf(deps, uuid, rows[0]) : null,
    refunded: (await duplicatesOf(deps, { uuid })).map(({ kind, why, amount, isReturned, isWithStaff }) => ({
      kind,
      why,
      amount,
      isReturned,
      isWithStaff,
    })),
  };
}

/** Returns the preferred email if no letter can go to it, with the one that gets the letters instead; null if it can be written to. */
function unwritableOf(emails: readonly (string | null)[]) {
  const email = emails.find(Boolean);
  const writtenTo = receiptEmail(emails);
  return !email || email === writtenTo ? null : { email, writtenTo };
}

const TOLD_TO_ANYBODY = {
  firstName: null,
  receipt: null,
  memberships: [],
  owesTranscript: false,
  rejection: null,
  papers: null,
  refunded: [],
} satisfies Omit<Data<'getWelcome'>, 'programme'>;

async function papersOf(
  deps: Deps,
  uuid: string,
  row: {
    full_name: string | null;
    member_number: string | null;
    is_unlisted: boolean | null;
    base_programme: string | null;
  },
): Promise<Data<'getWelcome'>['papers']> {
  const name = cleanText(row.full_name ?? '');
  const { member_number: number, base_programme: programme } = row;
  if (number === null || programme === null || name === '') return null;
  return {
    number: displayMemberNumber(number),
    isVerifiable: !row.is_unlisted,
    problem: await paperProblem(deps, { uuid, name, programme }),
  };
}
