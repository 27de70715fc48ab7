import { z } from 'zod';
import { membershipStandings } from '#core/refunds.ts';
import { nullableText, passToProve, sessionParams } from './shapes.ts';

/** The shapes of the calls of the welcome page, and of the call that verifies a membership. */
export const memberSchemas = {
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
              /** The day of the payment (YYYY-MM-DD). All days here are in the society's time zone. */
              paidAt: z.string(),
              lines: z.array(z.object({ name: z.string(), amount: z.int() })),
              amount: z.int(),
              refunded: z.int(),
              /** Null for a payment by somebody else, since only that payer may see their card. */
              card: z.object({ brand: z.string(), last4: z.string() }).nullable(),
              /** The name of the person who paid by a pay link; empty if it is unknown. Null if the joiner paid. */
              paidBy: z.string().nullish(),
              /** Further notes on the receipt, for example whether donations are deductible. */
              notes: z.array(z.string()).nullish(),
            }),
          ),
        })
        .nullable(),
      /** The goods of this join, each with its state in words. */
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
       * The joiner's email, if no mail server would accept it. `writtenTo`: another email of the joiner, to which letters go;
       * null if there is none. Null for browsers that do not hold the join.
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
          /** The text on the certificate: the name, the programme, and the day of admission (YYYY-MM-DD). */
          certificate: z.object({ name: z.string(), programme: z.string(), since: z.string() }).optional(),
        })
        .nullable(),
      /**
       * The refunded payments of this join and of other joins of the same contact, in the same form as in the answer of
       * postPayment. Amounts are in cents.
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
   * Returns the text of the press release, for copying. Like the downloads, only for a browser that holds the join of a member.
   */
  getPressRelease: { params: sessionParams, data: z.object({ text: z.string() }) },
  /**
   * Corrects the email of a paid join, in a browser that may see the joiner's data. From then on, letters go to the new email.
   */
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
        /** The day of joining in words: "November 3, 2026". */
        since: z.string(),
        society: z.string(),
        /** The programme's name; null if the society's file no longer has the programme. */
        programme: z.string().nullable(),
      }),
      z.object({ standing: z.literal('ended') }),
      z.object({ standing: z.literal('unknown') }),
    ]),
  },
} as const;
