import { z } from 'zod';
import { funnelSteps, numberKeys } from '#core/funnel.ts';
import { cents, day, offered, personId, time } from './deskShapes.ts';

const funnel = z.object(
  Object.fromEntries(funnelSteps.map((step) => [step, z.int()])) as Record<
    (typeof funnelSteps)[number],
    z.ZodInt
  >,
);

const asked = z.object({ from: day, to: day, by: z.enum(numberKeys) });

/** A month such as `2026-11`, in UTC. */
const month = z.object({ month: z.string().regex(/^20\d\d-(0[1-9]|1[0-2])$/) });
const sum = z.object({ count: z.int(), grossCents: cents, feeCents: cents });
const ledger = z.object({
  /** Whether a server is reading it now, and how many transactions it has read so far. */
  isReading: z.boolean(),
  transactions: z.int(),
  /** Why the last reading ended early. */
  fault: z.string().nullable(),
  askedBy: z.string(),
  /** When it was last read completely. */
  readAt: time.nullable(),
  /** Amounts have Stripe's signs: refunds are negative. */
  summary: z
    .object({
      kinds: z.array(z.object({ kind: z.string(), grossCents: cents, refundsCents: cents, feeCents: cents })),
      /** Transactions of other apps on the same Stripe account, which are not in the file. */
      others: sum,
      /** All transactions of Stripe's balance. */
      balance: sum,
      /** Why the lines do not equal Stripe's balance; empty if they do. */
      faults: z.array(z.string()),
    })
    .nullable(),
});

/** The calls of the page Numbers. */
export const numbersSchemas = {
  /**
   * Returns the numbers of a period, from its first to its last day (both included) in the society's time zone. 400: it ends
   * before it begins, or is too long.
   */
  getNumbers: {
    query: asked,
    data: z.object({
      /** The days on which joins began or were paid. */
      days: z.array(z.object({ day: z.iso.date(), begun: z.int(), paid: z.int() })),
      /**
       * By day, the earliest first; otherwise the rows with the most joins first, at most 500. `key` is null for the row of joins
       * and invitations without a value.
       */
      rows: z.array(funnel.extend({ key: z.string().nullable() })),
      total: funnel,
    }),
  },
  /** Returns all rows of {@link getNumbers}. */
  getNumbersFile: { query: asked, data: z.string() },
  /** Returns what is known of a month's ledger; null if nobody has requested it yet. */
  getLedger: { query: month, data: z.object({ ledger: ledger.nullable() }) },
  /** Begins to read a month from Stripe, which may take minutes. Until then the previous result is kept. */
  readLedger: { body: month, data: z.object({ ledger: ledger.nullable() }) },
  /** 404: the month has not been read completely yet. */
  getLedgerFile: { query: month, data: z.string() },
  /** Returns the last 14 comparisons of Stripe's money with our members, the latest first. */
  getReconciliations: {
    data: z.object({
      nights: z.array(
        z.object({
          at: time,
          payments: z.int(),
          differences: z.array(
            z.object({
              text: z.string(),
              /** The payment that the difference is about; null if it is not about a payment. */
              intent: z.string().nullable(),
              person: z.object({ id: personId, name: z.string().nullable() }).nullable(),
              ...offered,
            }),
          ),
        }),
      ),
    }),
  },
} as const;
