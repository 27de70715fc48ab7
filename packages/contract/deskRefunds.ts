import { z } from 'zod';
import { action, cents, joinNumber, personParams, refundId } from './deskShapes.ts';

const productIds = z.array(z.int()).max(100);
const refundParams = z.object({ id: refundId });

/** The calls that move money, and that say what money was for. */
export const refundSchemas = {
  /** Gives back what is ticked of a join. `items`: donations and store items, by product. `ineligible` keeps the processing fee. */
  refundJoin: {
    params: personParams,
    ...action({
      join: joinNumber,
      membership: z.boolean(),
      ineligible: z.boolean(),
      upgrade: z.boolean(),
      items: productIds,
    }),
  },
  /** Declines a member's request for their money back, with a sentence that they get by letter. */
  declineRefund: {
    params: personParams,
    ...action({ join: joinNumber, sentence: z.string().trim().max(1000) }),
  },
  /** Gives back all that is left of a payment, by Stripe's id of it. */
  refundPayment: {
    params: z.object({ id: z.string().regex(/^pi_\w{1,200}$/) }),
    ...action({}),
  },
  /** What a refund made outside Induct may have been for. 409: what it was for is known otherwise. */
  getAssignments: {
    params: refundParams,
    data: z.object({
      /** In a sentence: what went back. */
      what: z.string(),
      amountCents: cents,
      choices: z.array(
        z.object({
          names: z.string(),
          membership: z.boolean(),
          upgrade: z.boolean(),
          items: z.array(z.int()),
        }),
      ),
    }),
  },
  /** Says what a refund made outside Induct was for; `for` null: for nothing that was bought. */
  assignRefund: {
    params: refundParams,
    ...action({
      for: z.object({ membership: z.boolean(), upgrade: z.boolean(), items: productIds }).nullable(),
    }),
  },
  /** Brings the payments of a join to what Stripe says of them. */
  settleJoin: { params: personParams, ...action({ join: joinNumber }) },
} as const;
