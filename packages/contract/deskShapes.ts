import { z } from 'zod';
import { isDay, NO_DAY } from '#core/day.ts';
import { staffRoles } from '#core/staff.ts';
import { failure } from './shapes.ts';

/** The shapes that the calls of several pages of the desk share. */

export const time = z.iso.datetime();
/** A day (YYYY-MM-DD) that staff enter. */
export const day = z.string().refine(isDay, NO_DAY);
export const cents = z.int();
/** The number of a person, as used in the desk's URLs. The uuid of a join is a credential, so these URLs never contain one. */
export const personId = z.int().positive();
/** The number of a join among the person's joins; the oldest is 1. */
export const joinNumber = z.int().min(1).max(10_000);
/** The uuid of a refund. That of a refund made outside Induct is derived from Stripe's id, so it has no valid version. */
export const refundId = z.guid();
/** A number in a URL. */
export const number = z.string().regex(/^[1-9]\d{0,15}$/);
/** How browsers show a document; null if they cannot, for example a Word file. */
export const shownAs = z.enum(['pdf', 'picture']).nullable();
/** The path parameter of a call about one person. */
export const personParams = z.object({ id: number });

/**
 * What the desk offers to solve a problem: links, each with the lowest role that may use it, or a sentence if no page of the desk
 * solves it.
 */
export const offered = {
  offers: z.array(z.object({ name: z.string(), path: z.string(), role: z.enum(staffRoles) })),
  advice: z.string().nullable(),
};

/**
 * What an action would do, in sentences; the text of the button that does it; and a hash of both, which is sent as `seen` when
 * the button is pressed.
 */
export const shown = z.object({ lines: z.array(z.string()), verb: z.string(), seen: z.string() });
/** The result of an action, in sentences. */
export const done = z.object({ lines: z.array(z.string()) });

/**
 * The shapes of a call that shows what it would do before it does it. With `trial`, it changes nothing and returns what it would
 * do. Otherwise it is done if `seen` still matches after the rows are locked; if not, the answer is a {@link changedFailure}.
 */
export const action = <Body extends z.ZodRawShape, Done extends z.ZodRawShape>(
  body: Body,
  more: Done = {} as Done,
) => ({
  body: z.object({ ...body, trial: z.boolean().default(false), seen: z.string().max(100).optional() }),
  data: z.union([shown, done.extend(more)]),
});

/**
 * The 409 answer of an action. With `shown`: what the action would do has changed, and this is what it would do now. Without
 * `shown`: it cannot be done.
 */
export const changedFailure = failure.extend({ shown: shown.optional() });
