import { z } from 'zod';
import { cleanEmail } from '#core/cleanText.ts';
import { action, cents, joinNumber, personParams } from './deskShapes.ts';

/** Text of an amount in dollars, as it is typed. Empty: none. */
const dollars = z.string().max(20);
const productId = z.int().positive();

/** The calls that write to a person, and that make and end links. */
export const letterSchemas = {
  /** Sends a letter of a person again; `to` null: to where it would go now. 400: `errors.to` says what is wrong with the address. */
  sendLetter: {
    params: personParams,
    ...action({ letter: z.uuid(), to: z.string().max(320).overwrite(cleanEmail).nullable() }),
  },
  /** Mails the link to a join to its joiner. */
  sendJoinLink: { params: personParams, ...action({ join: joinNumber }) },
  stopReminders: { params: personParams, ...action({}) },
  /** Ends all links in letters about a person's joins that were mailed before. */
  endLinks: { params: personParams, ...action({}) },
  /** What a checkout link can sell, and the upgrades that it can offer. */
  getLinkProducts: {
    data: z.object({
      products: z.array(z.object({ id: productId, name: z.string(), priceCents: cents, floorCents: cents })),
      upgrades: z.array(z.object({ id: productId, name: z.string(), priceCents: cents })),
    }),
  },
  /** Signs a link to the page of a person's contact. `product`, `dollars` and `upgrade` are of a checkout link; null: as the catalogue says. */
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
