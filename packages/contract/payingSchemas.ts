import { z } from 'zod';
import { joinSessionStates } from '#core/joinSession.ts';
import {
  email,
  feature,
  flag,
  given,
  linkParams,
  noBody,
  none,
  nullableText,
  product,
  sessionParams,
  shownPrice,
  text,
} from './shapes.ts';

const paymentIntentAnswer = z.object({
  clientSecret: z.string(),
  /** The revision of the order that the intent is for. */
  revision: z.int(),
  amount: z.int(),
});

const amounts = z.array(z.object({ name: z.string(), amount: z.int() }));

/** What a member would get back on request, and what they have requested. Amounts are in cents. */
const refundRequest = z.object({
  /** Why no refund can be requested now; null if one can be. */
  whyNot: nullableText,
  lines: amounts,
  total: z.int(),
  kept: amounts,
  /** The names of the memberships and upgrades that would end. */
  ends: z.array(z.string()),
  /**
   * The last day (YYYY-MM-DD in the society's time zone) on which a refund can be requested, and the number of days within which
   * staff answer.
   */
  until: z.string(),
  answerDays: z.int(),
  request: z
    .object({
      /** The day of the request (YYYY-MM-DD). */
      at: z.string(),
      amount: z.int(),
      /** The day on which staff declined the request, and their sentence. */
      declined: z.object({ at: z.string(), sentence: z.string() }).nullable(),
    })
    .nullable(),
});

/** The shapes of the calls for payments, pay links, the upgrade and refund requests. */
export const payingSchemas = {
  createPaymentIntent: {
    params: sessionParams,
    /** `amount` is in cents and is only compared: the server answers 409 if its own total differs. */
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
       * True if the browser's user has confirmed that this membership is for another person than the one for whom this browser
       * has already paid.
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
  createPayLink: {
    params: sessionParams,
    /** `agreeToPolicies`: as in beginPayment. */
    body: z.object({ agreeToPolicies: flag(false) }),
    /** `path` is the path of the page on which somebody else pays. An earlier pay link of the join is ended. */
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
  /** The part of a join that the holder of a pay link may see. Nothing in it gives access to the join. */
  getPayPage: {
    params: linkParams,
    data: z.object({
      status: z.enum(['open', 'paid', 'closed']),
      /** The joiner's first name, and in `name` with the initial of the last name: "Jordan R.". Null if unknown. */
      firstName: nullableText,
      name: nullableText,
      programme: z.string(),
      expiresAt: z.string(),
      /** The order to pay. Null unless `status` is `open`. */
      order: z
        .object({
          revision: z.int(),
          /** Amounts are in cents. */
          lines: z.array(z.object({ name: z.string(), amount: z.int() })),
          total: z.int(),
          /** The features of the membership or upgrade. Those of an upgrade are HTML. */
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
      /** The client secret of this payer's last try; empty at the first try. */
      clientSecret: given(255),
    }),
    data: paymentIntentAnswer,
  },
  reportPayPage: {
    body: z.object({ paymentIntent: text(255), paymentIntentClientSecret: text(255) }),
    data: z.object({
      /** Stripe's status of the payment, or `refunded` if it bought nothing and is refunded. */
      status: z.string(),
      /** What was paid; amounts are in cents. Null unless `status` is `succeeded`. */
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
  getRefundRequest: { params: sessionParams, data: refundRequest },
  /** `total` is the sum that the member was shown (cents). The call is refused (409) if the server's sum differs. */
  requestRefund: { params: sessionParams, body: z.object({ total: z.int() }), data: refundRequest },
} as const;
