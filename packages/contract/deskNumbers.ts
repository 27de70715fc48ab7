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
  /** Whether a server reads it now, and how many transactions it has taken. */
  isReading: z.boolean(),
  transactions: z.int(),
  /** Why the last reading has ended early. */
  fault: z.string().nullable(),
  askedBy: z.string(),
  /** When it was last read to the end. */
  readAt: time.nullable(),
  /** Amounts have Stripe's signs: what goes back is negative. */
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

/** The calls of Numbers. */
export const numbersSchemas = {
  /** The numbers of a period: from one day to another of the society, both included. 400: it ends before it begins, or is too long. */
  getNumbers: {
    query: asked,
    data: z.object({
      /** The days on which joins began or were paid. */
      days: z.array(z.object({ day: z.iso.date(), begun: z.int(), paid: z.int() })),
      /** By day the earliest first, otherwise those with the most joins first, 500 at most. `key` is null for what has none. */
      rows: z.array(funnel.extend({ key: z.string().nullable() })),
      total: funnel,
    }),
  },
  /** The rows of {@link getNumbers}, all of them. */
  getNumbersFile: { query: asked, data: z.string() },
  /** What is read of a month's ledger; null if nobody has asked for it yet. */
  getLedger: { query: month, data: z.object({ ledger: ledger.nullable() }) },
  /** Begins to read a month from Stripe, which may take minutes. What was read before stays until then. */
  readLedger: { body: month, data: z.object({ ledger: ledger.nullable() }) },
  /** 404: it was not read to the end yet. */
  getLedgerFile: { query: month, data: z.string() },
  /** The last 14 comparisons of Stripe's money with our members, the latest first. */
  getReconciliations: {
    data: z.object({
      nights: z.array(
        z.object({
          at: time,
          payments: z.int(),
          differences: z.array(
            z.object({
              text: z.string(),
              /** The payment, if it is about one. */
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
