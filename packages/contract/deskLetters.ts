import { z } from 'zod';
import { cleanEmail } from '#core/cleanText.ts';
import { action, cents, joinNumber, personParams } from './deskShapes.ts';

/** An amount in dollars as it was typed; empty for no amount. */
const dollars = z.string().max(20);
const productId = z.int().positive();

/** The calls that send letters to a person, and that make and end links. */
export const letterSchemas = {
  /**
   * Sends a letter to a person again. `to` null: to the email to which it would go now. 400: `errors.to` says what is wrong with
   * the email.
   */
  sendLetter: {
    params: personParams,
    ...action({ letter: z.uuid(), to: z.string().max(320).overwrite(cleanEmail).nullable() }),
  },
  /** Mails the link to a join to its joiner. */
  sendJoinLink: { params: personParams, ...action({ join: joinNumber }) },
  stopReminders: { params: personParams, ...action({}) },
  /** Ends all links in letters that were mailed so far about a person's joins. */
  endLinks: { params: personParams, ...action({}) },
  /** Returns the products that a checkout link can sell, and the upgrades that it can offer. */
  getLinkProducts: {
    data: z.object({
      products: z.array(z.object({ id: productId, name: z.string(), priceCents: cents, floorCents: cents })),
      upgrades: z.array(z.object({ id: productId, name: z.string(), priceCents: cents })),
    }),
  },
  /**
   * Makes a signed link to a page for a person's contact. `product`, `dollars` and `upgrade` only apply to a checkout link; null,
   * or empty `dollars`: the catalogue's value.
   */
  makeLink: {
    params: personParams,
    ...action(
      {
        kind: z.enum(['start', 'checkout', 'resume']),
        product: productId.nullable(),
        dollars,
        upgrade: productId.nullable(),
        days: z.int().min(1).max(36_500),
      },
      { url: z.string() },
    ),
  },
} as const;
