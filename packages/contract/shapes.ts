import { z } from 'zod';
import { cleanEmail, cleanText } from '#core/cleanText.ts';
import { productTypes } from '#core/product.ts';

/**
 * The shapes that several calls share. A success is `{ success: true, status: 'success', message?, data }`, a failure the `failure`
 * below, with an HTTP status of 400 or above.
 */

/**
 * Text without invisible characters. PostgreSQL can store it: control characters are removed, and unpaired surrogates are
 * refused. `clean` is `cleanEmail` for an email.
 */
export const text = (max: number, clean = cleanText) =>
  z
    .string()
    .overwrite(clean)
    .max(max)
    .refine((value) => value.isWellFormed(), 'Contains characters that cannot be stored.');

/**
 * Text that becomes an empty string if it is missing or null, so that the rules in packages/core refuse it with their own sentence.
 */
export const given = (max: number, clean = cleanText) =>
  text(max, clean)
    .nullish()
    .transform((value) => value ?? '');

export const email = given(320, cleanEmail);

export const flag = (fallback: boolean) =>
  z
    .boolean()
    .nullish()
    .transform((value) => value ?? fallback);

/**
 * A uuid, converted to lower case, as PostgreSQL writes it. This gives it only one spelling in Stripe's metadata and idempotency
 * keys.
 */
export const uuid = z.uuid().toLowerCase();

export const contactId = z
  .string()
  .overwrite(cleanText)
  .regex(/^[0-9]{1,20}$/, 'A contact id has digits only.');

export const productId = z.int().min(1).max(2_147_483_647);

/** A price in dollars as text: "65.00". */
export const price = z.string().regex(/^\d+\.\d{2}$/);

export const nullableText = z.string().nullable();

/** The codes of failures: those of HTTP statuses (`codeOf` in the server), and three conflicts to which the page reacts. */
const failureCodes = [
  'invalid',
  'signed_out',
  'forbidden',
  'not_found',
  'too_slow',
  'conflict',
  'too_large',
  'unsupported',
  'too_many',
  'failed',
  'unavailable',
  'perhaps_paid',
  'being_paid',
  'already_member',
] as const;

export const failure = z.object({
  success: z.literal(false),
  status: z.literal('error'),
  message: z.string(),
  errors: z.record(z.string(), z.string()).optional(),
  /** Present only if the session's state does not allow the call: the path of the screen where the session continues. */
  goOn: z.string().optional(),
  /**
   * The reason of the failure, for programs. Every failure of our server has one, so a 404 without a code comes from a server
   * that does not have the call. `perhaps_paid`: this browser may have paid for this joiner before, so the page asks whether a
   * second payment is intended. `being_paid`: somebody is paying by the join's pay link. `already_member`: the invitation's
   * person has nothing to buy.
   */
  code: z.enum(failureCodes),
  requestId: z.string().optional(),
  /**
   * The beginning of the request's id, short enough to be read out on the phone. Present only for failures of the server (5xx).
   */
  reference: z.string().optional(),
});

const around = <Data extends z.ZodType>(data: Data) =>
  z.object({ success: z.literal(true), status: z.literal('success'), message: z.string().optional(), data });

const successes = new WeakMap<z.ZodType, unknown>();

/** Returns the schema of a success with this data. Each is made only once, since each schema is compiled at its first use. */
export function success<Data extends z.ZodType>(data: Data): ReturnType<typeof around<Data>> {
  const made = successes.get(data) ?? around(data);
  successes.set(data, made);
  return made as ReturnType<typeof around<Data>>;
}

/**
 * The price on the screen, in cents. It is only compared: the server answers 409 if its own price differs. The specification's
 * calls do not have it.
 */
export const shownPrice = z
  .int()
  .nullish()
  .transform((value) => value ?? null);

/**
 * A token of the join, by which the page's user can prove to be the joiner. It is set only if the answer leaves out the joiner's
 * data; otherwise null.
 */
export const passToProve = nullableText;

export const product = z.object({
  /** The uuid of the product's line in the order; null for a product that is only offered. */
  sessionProductUuid: uuid.nullable(),
  productId,
  name: z.string(),
  price,
  displayPrice: z.string(),
  description: z.string(),
  /** The icon: SVG text, a URL, or empty. */
  icon: z.string(),
  productType: z.enum(productTypes),
  sortOrder: z.int(),
  /** The product's uuid in the catalogue, which the call set-session-product takes. */
  uuid,
  id: productId,
});

export const feature = z.object({ id: z.int(), description: z.string() });

export const detailText = given(1000);

export const eligibility = z.object({
  intro: z.string(),
  rules: z.array(z.string()),
  note: z.string(),
  /** The rules in a few words. */
  inShort: z.string().optional(),
  /** The note about a GPA below `below`. */
  lowGpa: z.object({ below: z.string(), note: z.string() }).optional(),
});

export const sessionParams = z.object({ uuid });

export const linkParams = z.object({ token: z.string().max(100) });

export const none = z.object({});

/** The token of a link in a letter: the text after its `#`. */
export const token = given(200);

/** The key of the join's programme. */
export const programmeOfJoin = z.string();

/** The body of a call that needs no body. It is missing or an empty object. */
export const noBody = none.nullish();
