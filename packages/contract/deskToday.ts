import { z } from 'zod';
import { action, number, offered, personId, time } from './deskShapes.ts';

/** The queues of work on the page Today. */
export const queueNames = [
  'transcripts',
  'proof',
  'parcels',
  'letters',
  'hubspot',
  'refundsAsked',
  'refunds',
  'differences',
] as const;
const notice = z.object({
  id: z.int(),
  text: z.string(),
  person: z.object({ id: personId, name: z.string().nullable() }).nullable(),
  count: z.int(),
  since: time,
  last: time,
  ...offered,
});
const today = z.object({
  /**
   * All of {@link queueNames} in their order, each with the time since which its oldest entry waits. `transcripts`, `proof`,
   * `parcels` and `refundsAsked` count up to 1,000. `differences` has the time of the last comparison.
   */
  queues: z.array(z.object({ name: z.enum(queueNames), count: z.int(), oldest: time.nullable() })),
  notices: z.array(notice),
  /** `troubleSince` is null while the provider answers. Providers that are not used are left out. */
  providers: z.array(
    z.object({ name: z.enum(['stripe', 'hubspot', 'mail']), troubleSince: time.nullable() }),
  ),
  /** The last comparison with Stripe's money; null if there has been none. */
  reconciled: z.object({ at: time, differences: z.int() }).nullable(),
  /** How many joins began, and how many were paid, in the last seven days. */
  week: z.object({ begun: z.int(), paid: z.int() }),
});

/** The calls of the page Today. */
export const todaySchemas = {
  getToday: { data: today },
  /**
   * Returns the notices that staff have ended in the last 90 days, the latest first, at most 200. `isOpenAgain`: the cause has
   * occurred again since.
   */
  getDoneNotices: {
    data: z.object({
      notices: z.array(notice.extend({ doneAt: time, doneBy: z.string(), isOpenAgain: z.boolean() })),
    }),
  },
  /** Ends a notice, or with `undo` opens it again. */
  markNoticeDone: { params: z.object({ id: number }), ...action({ undo: z.boolean() }) },
} as const;
