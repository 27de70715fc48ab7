import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { joinSessionStates } from '#core/joinSession.ts';
import { productTypes } from '#core/product.ts';
import { cents, offered, personId, personParams, refundId, shownAs, time } from './deskShapes.ts';

const foundPerson = z.object({
  id: personId,
  name: z.string().nullable(),
  email: z.string().nullable(),
  /** Of the person's newest join; null if there is none. */
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
  /** `duplicate`: it bought nothing, and all of it goes back. */
  status: z.enum(['open', 'succeeded', 'canceled', 'duplicate']),
  amountCents: cents,
  /** All that went back or goes back, also what is not known to be for a line. */
  refundedCents: cents,
  paidAt: time.nullable(),
  card: z.object({ brand: z.string(), last4: z.string() }).nullable(),
  /** Who paid by a pay link; null if the joiner paid. What was erased of them is null. */
  payer: z.object({ name: z.string().nullable(), email: z.string().nullable() }).nullish(),
  standing: z.enum(['active', 'disputed', 'refunded', 'charged_back', 'void']).nullable(),
  memberNumber: z.string().nullable(),
  lines: z.array(line),
  refunds: z.array(
    z.object({
      id: refundId,
      /** Whether it was made outside Induct, so that staff may say what it was for. */
      isElsewhere: z.boolean(),
      amountCents: cents,
      /** In words: why the money goes back. */
      why: z.string(),
      status: z.enum(['due', 'pending', 'succeeded', 'failed', 'canceled']),
      /** Stripe's words, if it refuses. */
      refusal: z.string().nullable(),
      at: time,
    }),
  ),
});
const join = z.object({
  /** Counts the joins of the person, the oldest being 1. */
  number: z.int(),
  programme: z.string(),
  state: z.enum(joinSessionStates),
  /** In words: how it began. */
  origin: z.string(),
  startedAt: time,
  isErased: z.boolean(),
  /** The lines of an order that is not paid. */
  openLines: z.array(z.object({ name: z.string(), priceCents: cents })),
  payments: z.array(payment),
  goods: z.array(z.object({ name: z.string(), state: z.string() })),
  /** The member's request for their money back, which waits for an answer; null if there is none. */
  refundAsked: z
    .object({
      at: time,
      amountCents: cents,
      /** What is to come back: of memberships by type, of donations and store items by product. */
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
  /** In one sentence: whether they are a member, and since when or why not. */
  standing: z.string(),
  problems: z.array(z.object({ text: z.string(), ...offered })),
  /** What is known of the person, as rows of a table: those fields that are not blank. */
  details: z.array(z.object({ label: z.string(), value: z.string() })),
  codes: z.array(z.object({ code: z.string(), isUsed: z.boolean() })),
  joins: z.array(join),
  /** Others who are likely the same. */
  others: z.array(z.object({ id: personId, name: z.string().nullable(), email: z.string().nullable() })),
  story: z.array(
    z.object({
      at: time,
      text: z.string(),
      by: z.string(),
      isStaff: z.boolean(),
      join: z.int().nullable(),
      /** The id of a note, which can be removed. */
      note: z.int().nullable(),
    }),
  ),
  letters: z.array(
    z.object({
      id: z.uuid(),
      /** In words: what it is. */
      kind: z.string(),
      to: z.string().nullable(),
      state: z.enum(['sent', 'refused', 'withdrawn', 'due', 'trying again', 'later', 'will not be sent']),
      at: time,
      /** The mail server's words, if it refuses. */
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
      /** Why it was rejected, as the applicant reads it. */
      reason: z.string().nullable(),
      reviewedAt: time.nullable(),
      isRemoved: z.boolean(),
      join: z.int().nullable(),
    }),
  ),
});

/**
 * `next` is what asks for the rows that follow; null if there are none. While `knowsContacts` is false, HubSpot's contacts were not
 * read yet, so people without a join may be missing.
 */
const foundPeople = z.object({
  rows: z.array(foundPerson),
  next: z.string().nullable(),
  knowsContacts: z.boolean(),
  /** If HubSpot was asked, too, and helped nothing: it knows nobody by this text, or does not answer. */
  atHubspot: z.enum(['unknown', 'unavailable']).nullish(),
});

const searched = z.string().max(200).overwrite(cleanText).min(1);
const waiting = z.enum(['letters', 'hubspot', 'refunds', 'refundsAsked']);

/** The calls of People and Person. */
export const peopleSchemas = {
  /** Finds people by any part of a name or email, or by code, member number, payment, card with amount, or HubSpot contact. */
  searchPeople: {
    body: z.object({
      text: searched,
      next: z.string().max(200).optional(),
      /** Asks HubSpot first, which may take seconds: it may have contacts that were not read yet. */
      atHubspot: z.literal(true).optional(),
    }),
    data: foundPeople,
  },
  /** Whose letters are refused, what HubSpot refuses, whose refunds wait, or who asks for one: the queues of Today. */
  getWaiting: {
    query: z.object({
      queue: waiting,
      next: z.string().max(200).optional(),
    }),
    data: foundPeople,
  },
  /** All of {@link searchPeople} or {@link getWaiting}. */
  getPeopleFile: {
    body: z.union([z.object({ text: searched }), z.object({ queue: waiting })]),
    data: z.string(),
  },
  /** 404: there is no such person. Whoever was merged is answered with whom they became. */
  getPerson: { params: personParams, data: person },
  /** What would be written to HubSpot now. `contactId` null: a new contact. 503: HubSpot does not answer. */
  getPersonAtHubspot: {
    params: personParams,
    data: z.object({
      contactId: z.string().nullable(),
      /** HubSpot's words, if it refuses what is written. */
      refusal: z.string().nullable(),
      waitsSince: time.nullable(),
      changes: z.array(z.object({ property: z.string(), from: z.string().nullable(), to: z.string() })),
    }),
  },
  /** A letter as it was sent, or would be sent now. `isHeld` is false if what it says does not hold any more. 409: nobody is known to send it to. */
  getLetter: {
    params: z.object({ id: z.uuid() }),
    data: z.object({ to: z.string(), subject: z.string(), text: z.string(), isHeld: z.boolean() }),
  },
} as const;
