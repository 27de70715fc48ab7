import { z } from 'zod';
import { cleanEmail, cleanText } from '#core/cleanText.ts';
import { type ContactField, contactFields } from '#core/contact.ts';
import { joinSessionStates } from '#core/joinSession.ts';
import { productTypes } from '#core/product.ts';
import { membershipStandings } from '#core/refunds.ts';
import { cleanDetails, type StudentDetailsField, studentDetailsFields } from '#core/studentDetails.ts';
import type { CallName, SpecifiedCall } from './calls.ts';

/**
 * The shapes of all calls (specification, sections 3 and 7). A success is `{ success: true, status: 'success', message?, data }`.
 * A failure is the `failure` below, with an HTTP status of 400 or above.
 */

/**
 * Text without what nobody sees. PostgreSQL can store it: control characters are removed, and unpaired surrogates are refused.
 * `clean` is `cleanEmail` for an email.
 */
const text = (max: number, clean = cleanText) =>
  z
    .string()
    .overwrite(clean)
    .max(max)
    .refine((value) => value.isWellFormed(), 'Contains characters that cannot be stored.');

/**
 * Text that becomes an empty string if it is missing or null, so that the rules in packages/core refuse it with their own sentence.
 */
const given = (max: number, clean = cleanText) =>
  text(max, clean)
    .nullish()
    .transform((value) => value ?? '');
const email = given(320, cleanEmail);
const flag = (fallback: boolean) =>
  z
    .boolean()
    .nullish()
    .transform((value) => value ?? fallback);

/**
 * A uuid, converted to lower case, as PostgreSQL writes it. Stripe's metadata and idempotency keys then have one spelling of it.
 */
const uuid = z.uuid().toLowerCase();
const contactId = z
  .string()
  .overwrite(cleanText)
  .regex(/^[0-9]{1,20}$/, 'A contact id has digits only.');
const productId = z.int().min(1).max(2_147_483_647);
const invitationCode = given(200);
/** A price in dollars as text: "65.00". */
const price = z.string().regex(/^\d+\.\d{2}$/);
const nullableText = z.string().nullable();

/** The signature of a link. `exp`: expiry in Unix seconds. `sig`: an HMAC over all parameters (apps/server/session/links.ts). */
const signature = { exp: text(20).optional(), sig: text(200).optional() };

/** The codes of failures: those of HTTP statuses (`codeOf` in the server), and three conflicts to which the page reacts. */
const failureCodes = [
  'invalid',
  'signed_out',
  'forbidden',
  'not_found',
  'too_slow',
  'conflict',
  'too_large',
  'unsupported',
  'too_many',
  'failed',
  'unavailable',
  'perhaps_paid',
  'being_paid',
  'already_member',
] as const;

export const failure = z.object({
  success: z.literal(false),
  status: z.literal('error'),
  message: z.string(),
  errors: z.record(z.string(), z.string()).optional(),
  /** Present only if the session's state does not allow the call: the path of the screen where the session continues. */
  goOn: z.string().optional(),
  /**
   * The reason of the failure, for programs. Every failure has one, so a 404 without a code comes from a server that does not have
   * the call. `perhaps_paid`: this browser has perhaps paid for this joiner before, so the page asks whether a second payment is
   * intended. `being_paid`: somebody is paying by the join's pay link. `already_member`: the invitation's person has nothing to buy.
   */
  code: z.enum(failureCodes),
  requestId: z.string().optional(),
  /** The beginning of the request's id, short enough to be read out on the phone. Present only for failures of ours (5xx). */
  reference: z.string().optional(),
});

const around = <Data extends z.ZodType>(data: Data) =>
  z.object({ success: z.literal(true), status: z.literal('success'), message: z.string().optional(), data });
const successes = new WeakMap<z.ZodType, unknown>();

/** Returns the schema of a success with this data. It is made once, since whoever uses a schema compiles it. */
export function success<Data extends z.ZodType>(data: Data): ReturnType<typeof around<Data>> {
  const made = successes.get(data) ?? around(data);
  successes.set(data, made);
  return made as ReturnType<typeof around<Data>>;
}

/**
 * The price on the screen, in cents. Only compared: the server answers 409 if its own price differs. The specification's calls do
 * not have it.
 */
const shownPrice = z
  .int()
  .nullish()
  .transform((value) => value ?? null);

/**
 * A pass of the join, if the answer leaves out who its joiner is: the token with which the page's user can prove to be the joiner.
 * Otherwise null.
 */
const passToProve = nullableText;

const started = z.object({ uuid, message: z.string(), programme: z.string() });

const product = z.object({
  /** The uuid of the product's line in the order; null for a product that is only offered. */
  sessionProductUuid: uuid.nullable(),
  productId,
  name: z.string(),
  price,
  displayPrice: z.string(),
  description: z.string(),
  /** The icon: SVG text, a URL, or empty. */
  icon: z.string(),
  productType: z.enum(productTypes),
  sortOrder: z.int(),
  /** The product's uuid in the catalogue, which the call set-session-product takes. */
  uuid,
  id: productId,
});

const feature = z.object({ id: z.int(), description: z.string() });

const detailText = given(1000);
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

const contact = z.object({
  ...(Object.fromEntries(contactFields.map((field) => [field, nullableText])) as Record<
    Exclude<ContactField, 'acceptedPrivacyPolicy'>,
    typeof nullableText
  >),
  acceptedPrivacyPolicy: z.boolean(),
});

const paymentIntentAnswer = z.object({
  clientSecret: z.string(),
  /** The revision of the order that the intent is for. */
  revision: z.int(),
  amount: z.int(),
});

const eligibility = z.object({
  intro: z.string(),
  rules: z.array(z.string()),
  note: z.string(),
  /** The rules in a few words. */
  inShort: z.string().optional(),
  /** What is said of a GPA below `below`. */
  lowGpa: z.object({ below: z.string(), note: z.string() }).optional(),
});

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
      /** What the amount does, said after it: "a study guide". */
      does: z.string().optional(),
    }),
  ),
  recommendedProducts: z.array(product),
  billingEmail: z.string(),
  /** A sentence about a name that the certificate cannot show; null if it can. */
  nameProblem: nullableText,
  /**
   * The first name and an initial of the person for whom a join by a checkout link pays; null for any other join, and if the name is
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

const site = z.object({
  society: z.object({
    name: z.string(),
    shortName: z.string(),
    tagline: z.string(),
    timeZone: z.string(),
    supportEmail: z.string(),
    supportPhone: z.string(),
    links: z.object({ whoWeAre: z.string(), privacy: z.string(), refunds: z.string() }),
    /** What families can look up elsewhere; absent where the society's file does not say. */
    legalForm: z.string().optional(),
    taxStatus: z.string().optional(),
    founded: z.int().optional(),
    postalAddress: z.string().optional(),
    statementName: z.string().optional(),
    independence: z.string().optional(),
    deductibility: z.string().optional(),
    colours: z.object({ gold: z.string(), red: z.string() }),
  }),
  defaultProgramme: z.string(),
  programmes: z.record(
    z.string(),
    z.object({
      name: z.string(),
      isTOLA: z.boolean(),
      eligibility,
      /** The refund for a payer who is not eligible, in words. */
      refund: z.string(),
      /** The price of the default membership: "$65". */
      membershipFrom: z.string(),
    }),
  ),
  /**
   * The texts of Get Started. In the texts of `facts`, {price} and {refund} are placeholders: the page replaces them by the values
   * of the chosen programme.
   */
  getStarted: z.object({
    lead: z.string(),
    facts: z.array(z.object({ title: z.string(), text: z.string() })),
  }),
  /** The questions and answers at the foot of every page. */
  questions: z.array(z.object({ title: z.string(), text: z.string() })),
  checkout: z.object({ carbonNote: z.string(), donationIntro: z.string(), maximumDonation: z.number() }),
  /** What is said beside prices: to whoever cannot afford them, about changing one's mind, and about sending goods. */
  hardship: z.string().optional(),
  changeOfMind: z.string(),
  delivery: z.string().optional(),
  congratulations: z.object({
    lead: z.string(),
    emails: z.array(z.object({ title: z.string(), text: z.string(), when: z.string() })),
    store: z.object({
      title: z.string(),
      text: z.string(),
      code: z.string(),
      url: z.string(),
      discountPercent: z.int(),
    }),
  }),
  payments: z.object({
    publishableKey: z.string(),
    /** The URL of the payment emulator's script; null if the page is to load Stripe's own script. */
    scriptUrl: z.string().nullable(),
  }),
  uploadMaxBytes: z.number().nullable(),
  /** Whether the server sends letters, so that joiners can ask for the link to their join. */
  sendsLetters: z.boolean(),
  /** The origin of the API; empty if it is the page's own origin. */
  apiUrl: z.string(),
});

const upload = z.object({ name: z.string(), size: z.int() });

const sessionParams = z.object({ uuid });
const linkParams = z.object({ token: z.string().max(100) });
const none = z.object({});
const reminders = z.object({ areStopped: z.boolean() });
/** The token of a link in a letter: the text after its `#`. */
const token = given(200);
/** The key of the join's programme. */
const programmeOfJoin = z.string();
/**
 * The key of the programme in which the join is to begin. Without it, the join begins in the first programme that has the same
 * `isTOLA` as the call. A programme that is unknown or retired is refused (409).
 */
const programmeAsked = z.string().nullish();
const openedJoin = z.object({ uuid, goOn: z.string(), programme: programmeOfJoin });
const amounts = z.array(z.object({ name: z.string(), amount: z.int() }));
/** What a member would get back if they asked, and what they have asked for. Amounts are in cents. */
const refundRequest = z.object({
  /** Why nothing can be asked for now; null if it can. */
  whyNot: nullableText,
  lines: amounts,
  total: z.int(),
  kept: amounts,
  /** The names of the memberships and upgrades that would end. */
  ends: z.array(z.string()),
  /** Until when it can be asked, and within how many days staff answer. */
  until: z.iso.datetime(),
  answerDays: z.int(),
  request: z
    .object({
      at: z.iso.datetime(),
      amount: z.int(),
      /** When staff declined, and what they wrote. */
      declined: z.object({ at: z.iso.datetime(), sentence: z.string() }).nullable(),
    })
    .nullable(),
});
/** The body of a call that needs none. It is missing or an empty object. */
const noBody = none.nullish();

/**
 * For each call, the schemas of its path parameters, its query, its body, and the `data` of its success. Multipart bodies have no
 * schema, because they are read as streams.
 */
export const schemas = {
  checkEligibility: {
    body: z.object({ invitationCode, isTOLA: flag(true) }),
    data: z.object({
      status: z.enum(['success', 'failed']),
      message: z.string(),
      contactId: contactId.nullable(),
      /** True if a failed code is that of a member. */
      isMember: z.boolean().optional(),
    }),
  },
  checkInvitation: {
    /** An invite code, or a link. */
    body: z.object({ text: given(2000) }),
    data: z.object({
      /**
       * What it is. `page`: a page of ours that asks for nothing. `broken`: a link at our address that is not as we sent it. `elsewhere`:
       * a link at another address. `unknown`: a code that we did not send. `unread`: neither a code nor a link.
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
      /** The lowest price of a membership, or that of the link: "$65.00". */
      price: nullableText,
      /** What is refunded, in words. */
      refund: nullableText,
      /** When it expires; null if it does not. */
      until: nullableText,
      /** Whether it works now: false if it has expired, or was withdrawn. */
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
  createPaymentIntent: {
    params: sessionParams,
    /** `amount` is in cents and only compared: the server answers 409 if its own total differs. */
    body: z.object({ amount: z.int(), currency: z.literal('usd'), billingEmail: email }),
    data: paymentIntentAnswer,
  },
  beginPayment: {
    params: sessionParams,
    body: z.object({
      revision: z.int().min(0).max(2_147_483_647),
      agreeToPolicies: flag(false),
      /** Guardian consent, as in submitDetails. */
      hasGuardianConsent: flag(false),
      /**
       * True if the payer has confirmed that this membership is for another person than the one for whom this browser has already
       * paid.
       */
      isForAnother: flag(false),
    }),
    data: z.object({ revision: z.int(), amount: z.int() }),
  },
  releasePayment: {
    params: sessionParams,
    body: noBody,
    /** The join's state after the call: `paid` if the payment has succeeded after all, `paying` while its outcome is unknown. */
    data: z.object({ state: z.enum(joinSessionStates), goOn: z.string() }),
  },
  createPayLink: {
    params: sessionParams,
    /** `agreeToPolicies`: as in beginPayment. */
    body: z.object({ agreeToPolicies: flag(false) }),
    /** `path` is that of the page on which somebody else pays. An earlier link of the join ends. */
    data: z.object({ path: z.string(), expiresAt: z.string() }),
  },
  endPayLink: { params: sessionParams, body: noBody, data: none },
  getPayLink: {
    params: sessionParams,
    data: z.object({
      /** When the join's link expires; null if it has none. */
      expiresAt: nullableText,
      /** Whether somebody is paying by the link. */
      isBeingPaid: z.boolean(),
      state: z.enum(joinSessionStates),
      goOn: z.string(),
    }),
  },
  /** What the holder of a pay link is shown. Nothing else of the join, and nothing that leads into it. */
  getPayPage: {
    params: linkParams,
    data: z.object({
      status: z.enum(['open', 'paid', 'closed']),
      /** The joiner's first name, and with the initial of the last: "Jordan R.". Null if unknown. */
      firstName: nullableText,
      name: nullableText,
      programme: z.string(),
      expiresAt: z.string(),
      /** What is paid. Null unless `status` is `open`. */
      order: z
        .object({
          revision: z.int(),
          /** Amounts are in cents. */
          lines: z.array(z.object({ name: z.string(), amount: z.int() })),
          total: z.int(),
          /** What the membership or upgrade includes. Those of an upgrade are HTML. */
          features: z.array(feature),
        })
        .nullable(),
      refundNote: z.string(),
      /** The sentence to which the payer must agree; null if the programme asks for no guardian consent. */
      guardianConsent: nullableText,
    }),
  },
  beginPayPage: {
    params: linkParams,
    body: z.object({
      revision: z.int().min(0).max(2_147_483_647),
      name: given(200),
      email,
      hasGuardianConsent: flag(false),
      /** That of this payer's last try; empty at the first. */
      clientSecret: given(255),
    }),
    data: paymentIntentAnswer,
  },
  reportPayPage: {
    body: z.object({ paymentIntent: text(255), paymentIntentClientSecret: text(255) }),
    data: z.object({
      /** Stripe's status of the payment, or `refunded` if it bought nothing and goes back. */
      status: z.string(),
      /** What was paid, in cents; null unless `status` is `succeeded`. */
      receipt: z
        .object({
          reference: z.string(),
          lines: z.array(z.object({ name: z.string(), amount: z.int() })),
          total: z.int(),
          email: nullableText,
          notes: z.array(z.string()),
        })
        .nullable(),
    }),
  },
  postPayment: {
    params: sessionParams,
    body: z.object({
      paymentIntent: text(255),
      paymentIntentClientSecret: text(255),
      redirectStatus: text(50),
    }),
    data: z.object({
      /** Stripe's status of the payment (succeeded, processing, requires_payment_method, …), or `refunded`. */
      status: z.string(),
      paymentIntent: z.string(),
      /**
       * The refunded payment if `status` is `refunded`. `why` is `other_amount` if its amount differed from the order on the
       * screen, and `held` in every other case in which a payment buys nothing (packages/core/confirmation.ts). `amount` is in
       * cents.
       */
      refunded: z
        .object({
          kind: z.enum(['join', 'upgrade']),
          why: z.enum(['held', 'other_amount']),
          amount: z.int(),
          card: z.object({ brand: z.string(), last4: z.string() }).nullable(),
          /** Whether Stripe has accepted the refund. */
          isReturned: z.boolean(),
          /** Whether staff must decide on the refund. */
          isWithStaff: z.boolean(),
        })
        .nullable(),
      /** The screen on which the session continues if this payment has not succeeded and is not processing; otherwise null. */
      goOn: z.string().nullable(),
    }),
  },
  getRefundRequest: { params: sessionParams, data: refundRequest },
  /** `total`: what the member was shown, only compared. */
  requestRefund: { params: sessionParams, body: z.object({ total: z.int() }), data: refundRequest },
  getUpgradeDetails: {
    params: sessionParams,
    data: z.object({
      upgradeOption: product.nullable(),
      isEligibleForUpgrade: z.boolean(),
      isSelfNomination: z.boolean(),
      /** The features of the upgrade. `description` is HTML. */
      features: z.array(feature),
      congratulationsHeader: z.string(),
      congratulationsSubheader: z.string(),
      upgradeHeader: z.string(),
      upgradeSubheader: z.string(),
      /** The saved card that would be charged; null if no saved card may be charged. */
      card: z.object({ brand: z.string(), last4: z.string() }).nullable(),
      /** Whether there is no saved card, since somebody else paid for the join: the member has to enter one. */
      needsCard: z.boolean().nullish(),
      refundNote: z.string(),
      /** The screen that follows when the joiner skips or buys the upgrade. */
      goOn: z.string(),
    }),
  },
  createUpgradeCharge: {
    params: sessionParams,
    body: z.object({
      paymentIntent: given(255),
      /**
       * Whether to charge the saved card. If false, the call charges no card: it answers with a client secret for paying with
       * another card or, if such a payment was made, with its outcome.
       */
      charge: flag(true),
      amount: shownPrice,
    }),
    data: z.object({
      /**
       * The state of the upgrade's payment:
       * - `succeeded`: the upgrade is bought.
       * - `processing`: the bank is still deciding.
       * - `failed`: nothing was paid. If there is a `clientSecret`, another card can be tried.
       * - `requires_action`: the page must confirm the payment with `clientSecret` and then repeat this call.
       * - `requires_payment_method`: the card form can pay with `clientSecret`. Only for calls with `charge: false`.
       */
      status: z.enum(['succeeded', 'requires_action', 'processing', 'failed', 'requires_payment_method']),
      clientSecret: z.string().optional(),
      message: z.string().optional(),
    }),
  },
  skipUpgrade: { params: sessionParams, body: noBody, data: z.object({ goOn: z.string() }) },
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
  uploadTranscript: { params: sessionParams, data: upload },
  getDocuments: {
    params: sessionParams,
    data: z.object({
      /** The documents that staff have not rejected, with sizes in bytes; only for the browser that holds the join. */
      documents: z.array(upload),
      /**
       * Staff's rejection of the transcripts: the final rejection if there is one; otherwise, if all transcripts were rejected,
       * the last rejection; otherwise null. `message` is the sentence for the applicant.
       */
      rejection: z.object({ message: z.string(), isFinal: z.boolean() }).nullable(),
      /** Whether the membership has ended, so that transcripts are no longer accepted. */
      hasEnded: z.boolean(),
    }),
  },
  createUploadLink: {
    params: sessionParams,
    body: noBody,
    /** `path` is the path of the page on which a phone uploads. */
    data: z.object({ path: z.string(), expiresAt: z.iso.datetime() }),
  },
  getUploadLink: { params: linkParams, data: z.object({ expiresAt: z.iso.datetime() }) },
  uploadByLink: { params: linkParams, data: upload },
  uploadResume: { data: z.object({ success: z.boolean(), message: z.string() }) },
  getWelcome: {
    params: sessionParams,
    /** The data of the congratulations screen. `firstName` and `receipt` are null for a browser that does not hold the join. */
    data: z.object({
      firstName: nullableText,
      receipt: z
        .object({
          name: z.string(),
          /** The payments for the join and its upgrade, the oldest first. Amounts are in cents. */
          payments: z.array(
            z.object({
              reference: z.string(),
              paidAt: z.iso.datetime(),
              lines: z.array(z.object({ name: z.string(), amount: z.int() })),
              amount: z.int(),
              refunded: z.int(),
              /** Null for a payment by somebody else, whose card is theirs alone to see. */
              card: z.object({ brand: z.string(), last4: z.string() }).nullable(),
              /** Who paid, by a pay link: their name, or empty if it is unknown. Null if the joiner paid. */
              paidBy: z.string().nullish(),
              /** What the receipt says besides, such as whether donations are deductible. */
              notes: z.array(z.string()).nullish(),
            }),
          ),
        })
        .nullable(),
      /** The goods of this join, each with what has become of it, in words. */
      goods: z.array(z.object({ name: z.string(), state: z.string() })).nullish(),
      /** The memberships of this join with their standing, the base membership before its upgrade. */
      memberships: z.array(z.object({ name: z.string(), standing: z.enum(membershipStandings) })),
      owesTranscript: z.boolean(),
      /** The day (YYYY-MM-DD) on which the transcript is due; null if none is owed. */
      proofDue: nullableText.optional(),
      /** The sentence about staff's rejection of the transcript; null after a new upload. */
      rejection: nullableText,
      programme: z.string(),
      /** The email to which letters go. Null for browsers that do not hold the join. */
      email: nullableText,
      /**
       * The joiner's email, if no mail server would take it. `writtenTo`: another email of the joiner, to which letters go; null if
       * there is none. Null for browsers that do not hold the join.
       */
      unwritable: z.object({ email: z.string(), writtenTo: nullableText }).nullable(),
      /**
       * The data of the papers that a member can print. Null for browsers that do not hold the join, and if the membership has
       * ended.
       */
      papers: z
        .object({
          /** The member number in its printed form: "7K3M-9QXR". */
          number: z.string(),
          /** Whether others may verify the membership by its number. */
          isVerifiable: z.boolean(),
          /** The reason why no paper can be printed; null if papers can be printed. */
          problem: nullableText,
          /** What the certificate says: the name, the programme, and the day of admission (YYYY-MM-DD). */
          certificate: z.object({ name: z.string(), programme: z.string(), since: z.string() }).optional(),
        })
        .nullable(),
      /**
       * The refunded payments of this join and of other joins of the same contact, described as in the answer of postPayment.
       * Amounts are in cents.
       */
      refunded: z.array(
        z.object({
          kind: z.enum(['join', 'upgrade']),
          why: z.enum(['held', 'other_amount']),
          amount: z.int(),
          isReturned: z.boolean(),
          isWithStaff: z.boolean(),
        }),
      ),
      pass: passToProve,
    }),
  },
  /**
   * Opens the link in a letter. A browser that holds the join gets the page where it continues. Any other browser gets only the
   * ways to prove that its user is the joiner.
   */
  openPass: {
    body: z.object({ token }),
    data: z.object({
      join: openedJoin.nullable(),
      /** Whether a last name and a ZIP code can serve as proof, because the join has both. */
      hasDetails: z.boolean(),
      /** Whether a code that was mailed for this browser is still valid. */
      isCodeSent: z.boolean(),
    }),
  },
  sendPassCode: { body: z.object({ token }), data: none },
  provePassByCode: { body: z.object({ token, code: given(20) }), data: openedJoin },
  provePassByName: {
    body: z.object({ token, lastName: detailText, zipcode: detailText }),
    data: openedJoin,
  },
  /** Asks for the links of an email's joins. The answer is the same whether or not there are any. */
  sendPassLinks: { body: z.object({ email }), data: none },
  /** Whether reminders to the email of this token are stopped. The token comes from a reminder's link. */
  getReminders: { params: linkParams, data: reminders },
  setReminders: { params: linkParams, body: reminders, data: reminders },
  /** The text of the press release, for copying. Like the downloads, only for the browser that holds a member's join. */
  getPressRelease: { params: sessionParams, data: z.object({ text: z.string() }) },
  /** Corrects the email of a paid join, in a browser that is shown who the joiner is. Letters go to the new one from then on. */
  correctEmail: {
    params: sessionParams,
    body: z.object({ email: z.string() }),
    data: z.object({ email: z.string() }),
  },
  setVerification: {
    params: sessionParams,
    body: z.object({ isVerifiable: z.boolean() }),
    data: z.object({ isVerifiable: z.boolean() }),
  },
  /**
   * Checks whether a typed member number is genuine. The number of an unlisted membership gets the same answer as a number that
   * does not exist, and counts in the same way against the caller's limit.
   */
  verifyNumber: {
    params: z.object({ number: z.string() }),
    data: z.discriminatedUnion('standing', [
      z.object({
        standing: z.literal('valid'),
        number: z.string(),
        /** The date of joining as it is shown: "November 3, 2026". */
        since: z.string(),
        society: z.string(),
        /** The programme's name; null if the society's file no longer has the programme. */
        programme: z.string().nullable(),
      }),
      z.object({ standing: z.literal('ended') }),
      z.object({ standing: z.literal('unknown') }),
    ]),
  },
  getSite: { data: site },
} as const satisfies Record<CallName, { params?: z.ZodType; body?: z.ZodType; data: z.ZodType }>;

/** Returns the schema of the whole response body of a successful call. */
export function successOf<Name extends CallName>(name: Name) {
  return success(schemas[name].data as (typeof schemas)[Name]['data']);
}

type Schemas = typeof schemas;
export type Data<Name extends CallName> = z.output<Schemas[Name]['data']>;
export type Body<Name extends CallName> = Schemas[Name] extends { body: infer B extends z.ZodType }
  ? z.input<B>
  : undefined;
export type ParsedBody<Name extends CallName> = Schemas[Name] extends { body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;
/**
 * The fields that the specification's table names in the answer of each of its calls (section 7). Another server may answer these
 * alone.
 */
interface SpecifiedFields {
  checkEligibility: 'status' | 'message' | 'contactId';
  initiateJoin: 'uuid' | 'message';
  initiateSchoolJoin: 'uuid' | 'message';
  initiateSelfNomination: 'uuid' | 'message';
  initJoin: 'uuid' | 'message';
  getContact: ContactField;
  submitDetails: never;
  getMembershipDetails:
    | 'memberships'
    | 'selectedMembershipId'
    | 'membershipPageHeader'
    | 'membershipPageSubheader';
  setMembership: 'status';
  getCheckoutDetails:
    | 'donationOptions'
    | 'billingEmail'
    | 'isCheckoutOnly'
    | 'products'
    | 'recommendedProducts';
  setSessionProduct: keyof Product;
  deleteSessionProduct: never;
  setCustomDonation: keyof Product;
  createPaymentIntent: 'clientSecret';
  postPayment: never;
  getUpgradeDetails:
    | 'upgradeOption'
    | 'isEligibleForUpgrade'
    | 'isSelfNomination'
    | 'features'
    | 'congratulationsHeader'
    | 'congratulationsSubheader'
    | 'upgradeHeader'
    | 'upgradeSubheader';
  createUpgradeCharge: 'status';
  initiateCheckout: 'joinSessionUuid' | 'message';
  uploadTranscript: never;
  uploadResume: 'success' | 'message';
}
/**
 * The `data` of an answer as pages may rely on it: of a call in the specification, only the specified fields are certain.
 */
export type Answered<Name extends CallName> = Name extends SpecifiedCall
  ? Pick<Data<Name>, SpecifiedFields[Name] & keyof Data<Name>> & Partial<Data<Name>>
  : Data<Name>;
export type Params<Name extends CallName> = Schemas[Name] extends { params: infer P extends z.ZodType }
  ? z.input<P>
  : Record<string, never>;
export type Failure = z.output<typeof failure>;
export type Product = z.output<typeof product>;
export type Site = z.output<typeof site>;
