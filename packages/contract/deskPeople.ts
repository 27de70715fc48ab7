import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { joinSessionStates } from '#core/joinSession.ts';
import { productTypes } from '#core/product.ts';
import { cents, offered, personId, personParams, refundId, shownAs, time } from './deskShapes.ts';

const foundPerson = z.object({
  id: personId,
  name: z.string().nullable(),
  email: z.string().nullable(),
  /** The programme of the person's newest join; null if they have no join. */
  programme: z.string().nullable(),
  state: z.enum(joinSessionStates).nullable(),
  paidAt: time.nullable(),
  memberNumber: z.string().nullable(),
});

const line = z.object({
  productId: z.int(),
  type: z.enum(productTypes),
  name: z.string(),
  priceCents: cents,
  refundedCents: cents,
});
const payment = z.object({
  /** Stripe's id of the intent. */
  intent: z.string(),
  kind: z.enum(['join', 'upgrade']),
  /** `duplicate`: it bought nothing and is refunded in full. */
  status: z.enum(['open', 'succeeded', 'canceled', 'duplicate']),
  amountCents: cents,
  /** The sum of all refunds, made or due, even of those whose lines are unknown. */
  refundedCents: cents,
  paidAt: time.nullable(),
  card: z.object({ brand: z.string(), last4: z.string() }).nullable(),
  /** The person who paid by a pay link; null if the joiner paid. Erased fields are null. */
  payer: z.object({ name: z.string().nullable(), email: z.string().nullable() }).nullish(),
  standing: z.enum(['active', 'disputed', 'refunded', 'charged_back', 'void']).nullable(),
  memberNumber: z.string().nullable(),
  lines: z.array(line),
  refunds: z.array(
    z.object({
      id: refundId,
      /** Whether the refund was made outside Induct, so that staff may assign it to lines. */
      isElsewhere: z.boolean(),
      amountCents: cents,
      /** The reason of the refund, in words. */
      why: z.string(),
      status: z.enum(['due', 'pending', 'succeeded', 'failed', 'canceled']),
      /** Stripe's message, if it refuses the refund. */
      refusal: z.string().nullable(),
      at: time,
    }),
  ),
});
const join = z.object({
  /** The number of the join among the person's joins; the oldest is 1. */
  number: z.int(),
  programme: z.string(),
  state: z.enum(joinSessionStates),
  /** How the join began, in words. */
  origin: z.string(),
  startedAt: time,
  isErased: z.boolean(),
  /** The lines of an unpaid order. */
  openLines: z.array(z.object({ name: z.string(), priceCents: cents })),
  payments: z.array(payment),
  goods: z.array(z.object({ name: z.string(), state: z.string() })),
  /** The member's refund request that waits for an answer; null if there is none. */
  refundAsked: z
    .object({
      at: time,
      amountCents: cents,
      /** What is to be refunded: memberships by type, donations and store items by product. */
      types: z.array(z.enum(['membership', 'membership_upgrade'])),
      items: z.array(z.int()),
    })
    .nullable(),
});
const person = z.object({
  id: personId,
  name: z.string().nullable(),
  email: z.string().nullable(),
  contactId: z.string().nullable(),
  /** A sentence that says whether they are a member, and since when or why not. */
  standing: z.string(),
  problems: z.array(z.object({ text: z.string(), ...offered })),
  /** The known fields of the person, as rows of a table. Blank fields are left out. */
  details: z.array(z.object({ label: z.string(), value: z.string() })),
  codes: z.array(z.object({ code: z.string(), isUsed: z.boolean() })),
  joins: z.array(join),
  /** Other persons who are likely the same. */
  others: z.array(z.object({ id: personId, name: z.string().nullable(), email: z.string().nullable() })),
  story: z.array(
    z.object({
      at: time,
      text: z.string(),
      by: z.string(),
      isStaff: z.boolean(),
      join: z.int().nullable(),
      /** The id of a note, by which it can be removed; null for any other step. */
      note: z.int().nullable(),
    }),
  ),
  letters: z.array(
    z.object({
      id: z.uuid(),
      /** The kind of letter, in words. */
      kind: z.string(),
      to: z.string().nullable(),
      state: z.enum(['sent', 'refused', 'withdrawn', 'due', 'trying again', 'later', 'will not be sent']),
      at: time,
      /** The mail server's message, if it refuses the letter. */
      refusal: z.string().nullable(),
      join: z.int().nullable(),
    }),
  ),
  documents: z.array(
    z.object({
      id: z.uuid(),
      kind: z.enum(['transcript', 'resume']),
      name: z.string(),
      sizeBytes: z.int(),
      uploadedAt: time,
      shownAs,
      review: z.enum(['open', 'accepted', 'rejected']),
      /** Why it was rejected, in the words that the applicant reads. */
      reason: z.string().nullable(),
      reviewedAt: time.nullable(),
      isRemoved: z.boolean(),
      join: z.int().nullable(),
    }),
  ),
});

/**
 * `next` requests the following rows; null if there are none. While `knowsContacts` is false, HubSpot's contacts have not been
 * read yet, so persons without a join may be missing.
 */
const foundPeople = z.object({
  rows: z.array(foundPerson),
  next: z.string().nullable(),
  knowsContacts: z.boolean(),
  /** The reason why asking HubSpot did not help, if it was asked: it knows nobody by this text, or does not answer. */
  atHubspot: z.enum(['unknown', 'unavailable']).nullish(),
});

const searched = z.string().max(200).overwrite(cleanText).min(1);
const waiting = z.enum(['letters', 'hubspot', 'refunds', 'refundsAsked']);

/** The calls of the pages People and Person. */
export const peopleSchemas = {
  /** Finds people by any part of a name or email, or by code, member number, payment, card with amount, or HubSpot contact. */
  searchPeople: {
    body: z.object({
      text: searched,
      next: z.string().max(200).optional(),
      /** Asks HubSpot first, which may take seconds, for contacts that have not been read yet. */
      atHubspot: z.literal(true).optional(),
    }),
    data: foundPeople,
  },
  /**
   * Returns the persons in a queue of Today: their letters are refused, HubSpot refuses their data, their refunds wait, or they
   * ask for a refund.
   */
  getWaiting: {
    query: z.object({
      queue: waiting,
      next: z.string().max(200).optional(),
    }),
    data: foundPeople,
  },
  /** Returns all rows of {@link searchPeople} or {@link getWaiting}. */
  getPeopleFile: {
    body: z.union([z.object({ text: searched }), z.object({ queue: waiting })]),
    data: z.string(),
  },
  /** 404: there is no such person. The number of a person who was merged returns the person they were merged into. */
  getPerson: { params: personParams, data: person },
  /** Returns what would be written to HubSpot now. `contactId` null: a new contact. 503: HubSpot does not answer. */
  getPersonAtHubspot: {
    params: personParams,
    data: z.object({
      contactId: z.string().nullable(),
      /** HubSpot's message, if it refuses the data. */
      refusal: z.string().nullable(),
      waitsSince: time.nullable(),
      changes: z.array(z.object({ property: z.string(), from: z.string().nullable(), to: z.string() })),
    }),
  },
  /**
   * Returns a letter as it would be sent now, even one that was sent. `isHeld` is false if its content is no longer true. 409:
   * there is no email to send it to.
   */
  getLetter: {
    params: z.object({ id: z.uuid() }),
    data: z.object({ to: z.string(), subject: z.string(), text: z.string(), isHeld: z.boolean() }),
  },
} as const;
