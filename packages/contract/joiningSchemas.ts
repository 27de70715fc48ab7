import { z } from 'zod';
import { type ContactField, contactFields } from '#core/contact.ts';
import { cleanDetails, type StudentDetailsField, studentDetailsFields } from '#core/studentDetails.ts';
import {
  contactId,
  detailText,
  eligibility,
  feature,
  flag,
  given,
  noBody,
  nullableText,
  passToProve,
  price,
  product,
  productId,
  programmeOfJoin,
  sessionParams,
  shownPrice,
  text,
  uuid,
} from './shapes.ts';

const invitationCode = given(200);

/** The signature of a link. `exp`: expiry in Unix seconds. `sig`: an HMAC over all parameters (apps/server/session/links.ts). */
const signature = { exp: text(20).optional(), sig: text(200).optional() };

const started = z.object({ uuid, message: z.string(), programme: z.string() });

const contact = z.object({
  ...(Object.fromEntries(contactFields.map((field) => [field, nullableText])) as Record<
    Exclude<ContactField, 'acceptedPrivacyPolicy'>,
    typeof nullableText
  >),
  acceptedPrivacyPolicy: z.boolean(),
});

const studentDetails = z
  .object({
    ...(Object.fromEntries(
      studentDetailsFields.filter((field) => field !== 'agreeToPolicies').map((field) => [field, detailText]),
    ) as Record<Exclude<StudentDetailsField, 'agreeToPolicies'>, typeof detailText>),
    agreeToPolicies: flag(false),
    /** Guardian consent, for which only some programmes ask. The specification's call does not have it. */
    hasGuardianConsent: flag(false),
    isTOLA: flag(true),
  })
  .overwrite(cleanDetails);

const membershipDetails = z.object({
  memberships: z.array(
    z.object({
      id: productId,
      name: z.string(),
      price,
      features: z.array(feature),
      description: z.string(),
    }),
  ),
  selectedMembershipId: productId.nullable(),
  membershipPageHeader: z.string(),
  membershipPageSubheader: z.string(),
  refundNote: z.string(),
  /** The programme's eligibility rules in words, shown before the joiner pays. */
  eligibility: eligibility.extend({ programme: z.string() }),
});

const checkoutDetails = z.object({
  products: z.array(product),
  donationOptions: z.array(
    z.object({
      id: productId,
      uuid,
      amount: z.number(),
      /** A text after the amount that says what the donation pays for: "a study guide". */
      does: z.string().optional(),
    }),
  ),
  recommendedProducts: z.array(product),
  billingEmail: z.string(),
  /** A sentence about a name that the certificate cannot show; null if it can. */
  nameProblem: nullableText,
  /**
   * The first name and initial of the person for whom a join by a checkout link pays; null for any other join, and if the name is
   * unknown.
   */
  payingFor: nullableText,
  /** The known parts of the billing address; null for an unknown part. */
  billing: z.object({
    name: nullableText,
    line1: nullableText,
    line2: nullableText,
    city: nullableText,
    state: nullableText,
    postalCode: nullableText,
    country: z.enum(['US', 'CA']),
  }),
  isCheckoutOnly: z.boolean(),
  hasAgreedToPolicies: z.boolean(),
  /** The guardian consent sentence to which the joiner must still agree. Null if nothing is asked. */
  guardianConsent: nullableText,
  /** The order's revision. `beginPayment` sends back the revision that is on the screen. */
  revision: z.int(),
  refundNote: z.string(),
  /**
   * The content of the membership screen, which Checkout shows if the join has skipped that screen: the features of the
   * membership or upgrade in the order (those of an upgrade are HTML) and the eligibility rules. The rules are null for a member
   * who buys an upgrade. The whole field is null for a join that has passed the membership screen.
   */
  unseen: z.object({ features: z.array(feature), eligibility: eligibility.nullable() }).nullable(),
});

/**
 * The key of the programme in which the join is to begin. Without it, the join begins in the first programme that has the same
 * `isTOLA` as the call. A programme that is unknown or retired is refused (409).
 */
const programmeAsked = z.string().nullish();

/** The shapes of the calls from the invite code to the order. */
export const joiningSchemas = {
  checkEligibility: {
    body: z.object({ invitationCode, isTOLA: flag(true) }),
    data: z.object({
      status: z.enum(['success', 'failed']),
      message: z.string(),
      contactId: contactId.nullable(),
      /** True if the code failed because its person is a member. */
      isMember: z.boolean().optional(),
    }),
  },
  checkInvitation: {
    /** An invite code, or a link. */
    body: z.object({ text: given(2000) }),
    data: z.object({
      /**
       * What the text is. `page`: a page of ours that asks for no data. `broken`: a link on our host that differs from what we
       * sent. `elsewhere`: a link on another host. `unknown`: a code that we did not send. `unread`: neither a code nor a link.
       */
      is: z.enum([
        'code',
        'school code',
        'link',
        'checkout',
        'pay',
        'join',
        'resume',
        'page',
        'broken',
        'elsewhere',
        'unknown',
        'unread',
      ]),
      programme: nullableText,
      /** The lowest price of a membership, or the price that the link sets: "$65.00". */
      price: nullableText,
      /** What is refunded, in words. */
      refund: nullableText,
      /** The last day (YYYY-MM-DD in the society's time zone) on which the code or link works; null if it does not expire. */
      until: nullableText,
      /** Whether the code or link works now: false if it has expired or was withdrawn. */
      holds: z.boolean(),
    }),
  },
  initiateJoin: {
    body: z.object({
      contactId,
      invitationCode,
      isTOLA: flag(true),
      programme: programmeAsked,
      /**
       * True after Start Over was pressed: the server then starts a new join even if this browser holds an open join of the
       * contact.
       */
      startOver: flag(false),
    }),
    data: started,
  },
  initiateSchoolJoin: { body: z.object({ invitationCode }), data: started },
  initiateSelfNomination: {
    body: z.object({ hasConfirmedEligibility: flag(false), isTOLA: flag(true), programme: programmeAsked }),
    data: started,
  },
  initJoin: {
    params: z.object({ id: contactId }),
    body: z.object({ ...signature }).nullish(),
    data: started,
  },
  initiateCheckout: {
    body: z.object({
      hubspotContactId: contactId,
      mainProductId: productId.nullish(),
      upsellProductId: productId.nullish(),
      /** The price that the link sets for its main product, in cents. Without it, the price in the catalogue applies. */
      overrideMainPriceCents: z.int().min(0).max(99_999_999).nullish(),
      ...signature,
    }),
    data: z.object({ joinSessionUuid: uuid, message: z.string(), programme: programmeOfJoin }),
  },
  /**
   * The page where an unpaid join continues, and the joiner's first name. `join` is null for a paid or unknown join. `firstName` is
   * null unless the browser holds the join. `paid` is there only for a paid join, and only for the browser that holds it.
   */
  getOpenJoin: {
    params: sessionParams,
    data: z.object({
      join: z.object({ firstName: nullableText, goOn: z.string() }).nullable(),
      paid: z.object({ firstName: nullableText }).optional(),
    }),
  },
  getContact: {
    params: sessionParams,
    data: contact.extend({
      /** A sentence that says who invited the joiner and why. */
      invitation: z.string(),
      /**
       * The guardian consent: its sentence, and whether it was given. If it was given, `sentence` is the sentence to which the
       * joiner agreed then. Null if the programme does not ask.
       */
      guardianConsent: z.object({ sentence: z.string(), isGiven: z.boolean() }).nullable(),
      pass: passToProve,
    }),
  },
  submitDetails: {
    params: sessionParams,
    body: studentDetails,
    data: z.object({}),
  },
  getMembershipDetails: {
    params: sessionParams,
    data: membershipDetails,
  },
  setMembership: {
    params: sessionParams,
    body: z.object({ membershipId: productId, amount: shownPrice }),
    data: z.object({ status: z.literal('success') }),
  },
  getCheckoutDetails: { params: sessionParams, data: checkoutDetails },
  setSessionProduct: {
    params: sessionParams,
    body: z.object({ productUuid: uuid, amount: shownPrice }),
    data: product,
  },
  deleteSessionProduct: {
    params: z.object({ sessionProductUuid: uuid }),
    body: noBody,
    data: z.object({ status: z.literal('success') }),
  },
  setCustomDonation: {
    params: sessionParams,
    /** `amount` is in dollars. */
    body: z.object({ amount: z.union([z.number(), text(20)]) }),
    data: product,
  },
} as const;
