import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { cleanText } from '#core/cleanText.ts';
import { noContact } from '#core/contact.ts';
import { firstNameAndInitial } from '#core/firstNameAndInitial.ts';
import { type Holding, type JoinAccess, seesJoiner } from '#core/holding.ts';
import { shortPrice, toDollars } from '#core/money.ts';
import { lineUuid, type OpenLine } from '#core/orderLine.ts';
import { isPostcode, tidyPostcode } from '#core/postcode.ts';
import { isMembershipType } from '#core/product.ts';
import { providerEmail } from '#core/providerEmail.ts';
import { joinerEmails } from '#core/recipients.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { findCountry } from '#reference/countries.ts';
import { findSubdivision } from '#reference/lookup.ts';
import { nameProblemAhead } from '../membership/paperProblem.ts';
import { settlePaying } from '../paying/settlePaying.ts';
import { statement } from '../platform/database/statement.ts';
import type { ContactProfile } from '../platform/database/types.ts';
import { guardianConsentOf } from '../session/guardianConsent.ts';
import { membershipFee } from '../session/members.ts';
import { accessOf, admitted } from '../session/standing.ts';
import { eligibilityOf, fillIn } from '../society/texts.ts';
import { toWireLine, toWireProduct } from '../society/wire.ts';
import type { Deps } from './deps.ts';
import { merge } from './getContact.ts';

/**
 * Returns the order and the products that can be added to it. If this browser may see who the joiner is, also returns their known
 * data.
 */
export async function checkoutDetails(
  deps: Deps,
  uuid: string,
  holding: Holding,
): Promise<Data<'getCheckoutDetails'>> {
  let session = await find();
  // If a payment was begun and has not ended, asks Stripe for its outcome before the order is shown, unless Stripe was asked
  // within the last second.
  if (session.state === 'paying' && (await settlePaying(deps, uuid, 'look')) !== 'paying')
    session = await find();

  const { society } = deps;
  const isCheckoutOnly = session.origin === 'checkout';
  const isShown = seesJoiner(holding, session);
  const { refund, processingFeeCents } = society.programme(session.programme);
  // Only a checkout link can sell something to a member.
  const feeOfMember = isCheckoutOnly ? (await readFee(deps.database, { uuid })).rows[0]?.cents : null;
  const fee = shortPrice(feeOfMember ?? processingFeeCents);
  const typed = session.details ?? session.profile;
  const [firstName, middleName, lastName] = [typed?.firstName, typed?.middleName, typed?.lastName].map(
    (name) => name?.trim(),
  );
  const emails = joinerEmails({
    isPaid: false,
    ofPerson: null,
    typed: session.details?.personalEmail ?? null,
    personal: session.profile?.personalEmail ?? null,
    contact: session.email,
    receipts: [],
  });
  const known = isShown ? merge(session.profile, session.details, null) : noContact;
  const country = known.country ? findCountry(known.country) : undefined;
  const billable = country?.code === 'US' || country?.code === 'CA' ? country : undefined;
  const subdivision = billable && known.state ? findSubdivision(billable, known.state) : undefined;
  const place = billable && { country: billable.name, state: subdivision?.name ?? known.state ?? '' };
  const postcode = place ? tidyPostcode(known.zip ?? '', place) : '';
  return {
    products: session.lines.map((line) =>
      toWireLine(society, { ...line, uuid: lineUuid(uuid, line.number) }),
    ),
    donationOptions: society.offers
      .filter(({ type }) => type === 'donation')
      .map(({ id, uuid: productUuid, priceCents, does }) => ({
        id,
        uuid: productUuid,
        amount: toDollars(priceCents!),
        ...(does && { does }),
      })),
    recommendedProducts: society.offers
      .filter(({ recommended }) => recommended)
      .map((product) => toWireProduct(product)),
    billingEmail: (isShown && providerEmail(emails)) || '',
    nameProblem: isShown
      ? await nameProblemAhead(deps, cleanText([firstName, middleName, lastName].filter(Boolean).join(' ')))
      : null,
    payingFor: isCheckoutOnly ? firstNameAndInitial(firstName || null, lastName || null) : null,
    billing: {
      name: [known.firstName, known.lastName].filter(Boolean).join(' ') || null,
      line1: billable ? known.address : null,
      line2: billable ? known.address2 || null : null,
      city: billable ? known.city : null,
      state: subdivision ? (subdivision.code ?? subdivision.name) : null,
      // A postcode that is invalid in its country is left out, and the payer enters it.
      postalCode: place && isPostcode(postcode, place) ? postcode : null,
      country: billable?.code === 'CA' ? 'CA' : 'US',
    },
    isCheckoutOnly,
    hasAgreedToPolicies: session.has_agreed_to_policies,
    guardianConsent: session.has_guardian_consent ? null : guardianConsentOf(society, session.programme),
    revision: session.revision,
    unseen: isCheckoutOnly ? unseen(session.programme, session.lines) : null,
    refundNote: fillIn(refund, society, session.programme, { fee }),
  };

  function unseen(programme: string, lines: OpenLine[]) {
    const sold = lines
      .map(({ productId }) => society.product(productId))
      .find((product) => product !== undefined && isMembershipType(product.type));
    return {
      features: (sold?.features ?? []).map((description, index) => ({ id: index + 1, description })),
      eligibility: sold?.type === 'membership' ? eligibilityOf(society, programme) : null,
    };
  }

  async function find() {
    const { rows } = await readSession(deps.database, { uuid });
    return admitted(deps, 'readCheckout', { uuid, holding }, rows[0]);
  }
}

const readSession = statement<
  { uuid: string },
  JoinAccess & {
    programme: string;
    has_agreed_to_policies: boolean;
    has_guardian_consent: boolean;
    revision: number;
    details: StudentDetails | null;
    profile: ContactProfile | null;
    email: string | null;
    lines: OpenLine[];
  }
>(
  ({ uuid }) => sql`
    select ${accessOf('session')}, programme, has_agreed_to_policies, guardian_consent is not null as has_guardian_consent, revision,
      session.details, person.profile, person.email, lines
    from join_session session left join person on person.id = session.person_id
    where session.uuid = ${uuid}`,
);

const readFee = statement<{ uuid: string }, { cents: number | null }>(
  ({ uuid }) => sql`select ${membershipFee} as cents from join_session session where session.uuid = ${uuid}`,
);
