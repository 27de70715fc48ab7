import { z } from 'zod';
import { funnelSteps, numberKeys } from '#core/funnel.ts';

const funnel = z.object(
  Object.fromEntries(funnelSteps.map((step) => [step, z.int()])) as Record<
    (typeof funnelSteps)[number],
    z.ZodInt
  >,
);

const MOST_DAYS = 3_660;

const asked = z
  .object({ from: z.iso.date(), to: z.iso.date(), by: z.enum(numberKeys) })
  .refine(({ from, to }) => from <= to, 'The first day is after the last.')
  .refine(
    ({ from, to }) => Date.parse(to) - Date.parse(from) <= MOST_DAYS * 86_400_000,
    'Please choose ten years at most.',
  );

/** The calls of Numbers. */
export const numbersSchemas = {
  /** The numbers of a period: from one day to another of the society, both included. */
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
} as const;
