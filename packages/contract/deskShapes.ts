import { z } from 'zod';
import { isDay, NO_DAY } from '#core/day.ts';
import { staffRoles } from '#core/staff.ts';
import { failure } from './shapes.ts';

/** The shapes that calls of several pages of the desk have. */

export const time = z.iso.datetime();
/** A day (YYYY-MM-DD) that staff enter. */
export const day = z.string().refine(isDay, NO_DAY);
export const cents = z.int();
/** The number of a person, which addresses of the desk have. A join's uuid is a credential, so they never have one. */
export const personId = z.int().positive();
/** Which join of a person: the oldest is 1. */
export const joinNumber = z.int().min(1).max(10_000);
/** The uuid of a refund. One that was made outside Induct has no random uuid. */
export const refundId = z.guid();
/** A number in an address. */
export const number = z.string().regex(/^[1-9]\d{0,15}$/);
/** How browsers show a document; null if they cannot, as of Word. */
export const shownAs = z.enum(['pdf', 'picture']).nullable();
/** The path parameter of a call about one person. */
export const personParams = z.object({ id: number });

/** What the desk offers to mend something: links, each for a least role, and a sentence where no page of the desk does it. */
export const offered = {
  offers: z.array(z.object({ name: z.string(), path: z.string(), role: z.enum(staffRoles) })),
  advice: z.string().nullable(),
};

/**
 * What an action would do, in sentences, with the words of the button that does it, and a hash of both: whoever presses the button
 * sends it as `seen`.
 */
export const shown = z.object({ lines: z.array(z.string()), verb: z.string(), seen: z.string() });
/** What became of an action, in sentences. */
export const done = z.object({ lines: z.array(z.string()) });

/**
 * The shapes of a call that is shown before it is done. A trial changes nothing, and answers what would be done. Otherwise it is done
 * if `seen` still holds once the rows are locked; if not, the answer is a {@link changedFailure}.
 */
export const action = <Body extends z.ZodRawShape, Done extends z.ZodRawShape>(
  body: Body,
  more: Done = {} as Done,
) => ({
  body: z.object({ ...body, trial: z.boolean().default(false), seen: z.string().max(100).optional() }),
  data: z.union([shown, done.extend(more)]),
});

/** 409 of an action: what was shown does not hold any more, and what is shown instead; without that, it cannot be done. */
export const changedFailure = failure.extend({ shown: shown.optional() });
