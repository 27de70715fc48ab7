import { z } from 'zod';
import { action, cents, joinNumber, personParams, refundId } from './deskShapes.ts';

const productIds = z.array(z.int()).max(100);
const refundParams = z.object({ id: refundId });

/** The calls that refund money, and that assign refunds to what was bought. */
export const refundSchemas = {
  /**
   * Refunds the selected parts of a join. `items`: donations and store items, by product. `ineligible` keeps the processing fee.
   */
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
  /** Declines a member's refund request, with a sentence that is sent to the member by letter. */
  declineRefund: {
    params: personParams,
    ...action({ join: joinNumber, sentence: z.string().trim().max(1000) }),
  },
  /** Refunds all that is left of a payment, by its id at Stripe. */
  refundPayment: {
    params: z.object({ id: z.string().regex(/^pi_\w{1,200}$/) }),
    ...action({}),
  },
  /** Returns what a refund made outside Induct can be assigned to. 409: its lines are already known. */
  getAssignments: {
    params: refundParams,
    data: z.object({
      /** A sentence that says how much was refunded and how. */
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
  /** Assigns a refund made outside Induct to what it was for; `for` null: for nothing that was bought. */
  assignRefund: {
    params: refundParams,
    ...action({
      for: z.object({ membership: z.boolean(), upgrade: z.boolean(), items: productIds }).nullable(),
    }),
  },
  /** Brings the payments of a join to the state that they have at Stripe. */
  settleJoin: { params: personParams, ...action({ join: joinNumber }) },
} as const;
