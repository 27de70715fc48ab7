import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { cleanText } from '#core/cleanText.ts';
import { goodsWordsForMember } from '#core/fulfilment.ts';
import { type Holding, seesJoiner } from '#core/holding.ts';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { providerEmail } from '#core/providerEmail.ts';
import { type KnownEmails, letterEmails } from '#core/recipients.ts';
import { isHeld, type MembershipStanding } from '#core/refunds.ts';
import { proofDueAt } from '#core/specified.ts';
import { rejectionOf } from '../documents/sessionDocuments.ts';
import { parcelOf } from '../membership/orders.ts';
import { paperProblem } from '../membership/paperProblem.ts';
import { duplicatesOf } from '../paying/duplicates.ts';
import { sessionNotFound } from '../platform/http/refusal.ts';
import { baseMembership } from '../session/members.ts';
import { passFor } from '../session/passFor.ts';
import { firstName, fullName, knownEmails } from '../session/person.ts';
import { standingFor } from '../session/standing.ts';
import { dateOf, dayOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { receiptOf } from './receipt.ts';

/**
 * Returns the data of the welcome page, for a browser that holds the join. A browser that may not see who the joiner is gets no
 * last name, email or papers, but a pass with which its user can prove to be the joiner.
 */
export async function readWelcome(deps: Deps, uuid: string, holding: Holding): Promise<Data<'getWelcome'>> {
  const standing = await standingFor(deps, 'readUpgrade', uuid, holding);
  const { rows } = await sql<{
    first_name: string | null;
    known: KnownEmails;
    full_name: string | null;
    member_number: string | null;
    is_unlisted: boolean | null;
    base_programme: string | null;
    member_since: Date | null;
    paid_at: Date | null;
    bought: { type: 'membership' | 'membership_upgrade'; name: string; standing: MembershipStanding }[];
  }>`
    select ${firstName} as first_name, ${fullName} as full_name, ${knownEmails} as known, base.member_number, base.is_unlisted,
      (select programme from join_session where uuid = base.session_uuid) as base_programme,
      (select succeeded_at from payment where intent_id = base.payment_intent) as member_since, session.paid_at, coalesce((
        select json_agg(json_build_object('type', membership.type, 'name', line ->> 'name', 'standing', standing) order by membership.type, id)
        from membership join payment on intent_id = payment_intent
        join order_snapshot snapshot on snapshot.session_uuid = payment.session_uuid and snapshot.kind = payment.kind
          and snapshot.revision = payment.revision, jsonb_array_elements(items) as line
        where membership.session_uuid = session.uuid and (line ->> 'productId')::int = product_id), '[]') as bought
    from join_session session left join person on person.id = session.person_id
      left join lateral ${baseMembership} as base on base.is_held
    where session.uuid = ${uuid}`.execute(deps.database);
  const isShown = seesJoiner(holding, standing);
  const programme = deps.society.programme(standing.programme);
  const [row] = rows;
  if (!row) throw sessionNotFound();
  const { bought, known } = row;
  const emails = letterEmails(known);
  // Void memberships count only if there are no others.
  const real = bought.filter((one) => one.standing !== 'void');
  const memberships = real.length > 0 ? real : bought;
  const isOver = memberships[0] !== undefined && !isHeld(memberships[0].standing);
  // An upgrade by link owes no proof itself. The membership that is its base owes the proof.
  const isMembership = memberships.some(({ type }) => type === 'membership');
  const rejection = await rejectionOf(deps, uuid);
  const isAsked = standing.isSelfNomination || rejection?.isFinal === false;
  const receipt = await receiptOf(deps, uuid);
  const duplicates = await duplicatesOf(deps, isShown ? { uuid } : { joinUuid: uuid });
  const owesTranscript =
    isMembership && !isOver && (programme.transcriptRequired || isAsked) && !standing.hasTranscript;
  const shown = {
    firstName: row.first_name,
    receipt,
    goods: ((await parcelOf(deps.database, deps.society, uuid))?.goods ?? []).map(({ name, state }) => ({
      name,
      state: goodsWordsForMember(state, (time) => dateOf(deps.society, time)),
    })),
    memberships: memberships.map(({ name, standing }) => ({ name, standing })),
    owesTranscript,
    proofDue: owesTranscript && row.paid_at ? dayOf(deps.society, proofDueAt(row.paid_at)) : null,
    rejection: rejection?.message ?? null,
    programme: programme.name,
    email: providerEmail(emails),
    unwritable: unwritableOf(emails),
    papers: await papersOf(deps, uuid, row),
    refunded: duplicates.map(({ kind, why, amount, isReturned, isWithStaff }) => ({
      kind,
      why,
      amount,
      isReturned,
      isWithStaff,
    })),
    pass: null,
  };
  if (isShown) return shown;
  return {
    ...shown,
    receipt: { ...receipt, name: '' },
    rejection: null,
    email: null,
    unwritable: null,
    papers: null,
    pass: passFor(deps, uuid),
  };
}

/**
 * Returns the preferred email if no letter can go to it, with the one that gets the letters instead; null if letters can go to
 * it.
 */
function unwritableOf(emails: readonly (string | null)[]) {
  const email = emails.find(Boolean);
  const writtenTo = providerEmail(emails);
  return !email || email === writtenTo ? null : { email, writtenTo };
}

async function papersOf(
  deps: Deps,
  uuid: string,
  row: {
    full_name: string | null;
    member_number: string | null;
    is_unlisted: boolean | null;
    base_programme: string | null;
    member_since: Date | null;
  },
): Promise<Data<'getWelcome'>['papers']> {
  const name = cleanText(row.full_name ?? '');
  const { member_number: number, base_programme: programme, member_since: since } = row;
  if (number === null || programme === null || since === null || name === '') return null;
  return {
    number: displayMemberNumber(number),
    isVerifiable: !row.is_unlisted,
    problem: await paperProblem(deps, { uuid, name, programme }),
    certificate: {
      name,
      programme: deps.society.programme(programme).name,
      since: dayOf(deps.society, since),
    },
  };
}
