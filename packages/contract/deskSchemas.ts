import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { joinSessionStates } from '#core/joinSession.ts';
import { staffRoles } from '#core/staff.ts';
import type { DeskCallName } from './deskCalls.ts';
import { failure } from './schemas.ts';

/** The shapes of the desk's calls. Successes and failures are wrapped as those of the joiners' calls (schemas.ts). */

const token = z.string().max(100);
/** What browsers make of a passkey. The library that verifies it checks its shape. */
const credential = z.looseObject({ id: z.string().max(2_000) });
/** What a browser needs to make or use a passkey. */
const options = z.looseObject({ challenge: z.string() });
const none = z.object({});

/**
 * What an action would do, in sentences, with the words of the button that does it, and a hash of both: whoever presses the button
 * sends it as `seen`.
 */
const shown = z.object({ lines: z.array(z.string()), verb: z.string(), seen: z.string() });
/** What became of an action, in sentences. */
const done = z.object({ lines: z.array(z.string()) });

/**
 * The shapes of a call that is shown before it is done. A trial changes nothing, and answers what would be done. Otherwise it is done
 * if `seen` still holds once the rows are locked; if not, the answer is a {@link changedFailure}.
 */
const action = <Body extends z.ZodRawShape, Done extends z.ZodRawShape>(
  body: Body,
  more: Done = {} as Done,
) => ({
  body: z.object({ ...body, trial: z.boolean().default(false), seen: z.string().max(100).optional() }),
  data: z.union([shown, done.extend(more)]),
});

/** 409 of an action: what was shown does not hold any more, and what is shown instead; without that, it cannot be done. */
export const changedFailure = failure.extend({ shown: shown.optional() });

const me = z.object({
  name: z.string(),
  role: z.enum(staffRoles),
  mode: z.enum(['local', 'live']),
  society: z.string(),
  /** The society's time zone, in which all times are shown. */
  timeZone: z.string(),
});

const time = z.iso.datetime();
const cents = z.int();
/** The number of a person, which addresses of the desk have. A join's uuid is a credential, so they never have one. */
const personId = z.int().positive();
/** A number in an address. */
const number = z.string().regex(/^[1-9]\d{0,15}$/);
/** The path parameter of a call about one person. */
const personParams = z.object({ id: number });

/** What is to be done, as Today lists it. */
export const queueNames = [
  'transcripts',
  'proof',
  'parcels',
  'letters',
  'hubspot',
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
});
const today = z.object({
  /** All of {@link queueNames}, in their order, with since when the oldest waits. The first two count up to 1,000. */
  queues: z.array(z.object({ name: z.enum(queueNames), count: z.int(), oldest: time.nullable() })),
  notices: z.array(notice),
  /** `troubleSince` is null while the provider answers. A provider that is not used is left out. */
  providers: z.array(
    z.object({ name: z.enum(['stripe', 'hubspot', 'mail']), troubleSince: time.nullable() }),
  ),
  /** The last comparison with Stripe's money; null if there was none. */
  reconciled: z.object({ at: time, differences: z.int() }).nullable(),
  /** Joins that began and that were paid in the last seven days. */
  week: z.object({ begun: z.int(), paid: z.int() }),
});

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

const line = z.object({ name: z.string(), priceCents: cents, refundedCents: cents });
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
  standing: z.enum(['active', 'disputed', 'refunded', 'charged_back', 'void']).nullable(),
  memberNumber: z.string().nullable(),
  lines: z.array(line),
  refunds: z.array(
    z.object({
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
});
const person = z.object({
  id: personId,
  name: z.string().nullable(),
  email: z.string().nullable(),
  contactId: z.string().nullable(),
  /** In one sentence: whether they are a member, and since when or why not. */
  standing: z.string(),
  problems: z.array(z.string()),
  /** What is known of the person, as rows of a table: those fields that are not blank. */
  details: z.array(z.object({ label: z.string(), value: z.string() })),
  codes: z.array(z.object({ code: z.string(), isUsed: z.boolean() })),
  joins: z.array(join),
  /** Others who are likely the same. */
  others: z.array(z.object({ id: personId, name: z.string().nullable(), email: z.string().nullable() })),
  story: z.array(
    z.object({ at: time, text: z.string(), by: z.string(), isStaff: z.boolean(), join: z.int().nullable() }),
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
      review: z.enum(['open', 'accepted', 'rejected']),
      /** Why it was rejected, as the applicant reads it. */
      reason: z.string().nullable(),
      reviewedAt: time.nullable(),
      isRemoved: z.boolean(),
      join: z.int().nullable(),
    }),
  ),
});

export const deskSchemas = {
  /** Signs in by a link. In live mode that takes a passkey, which `options` are for; the link then goes with it to `addPasskey`. */
  enter: { body: z.object({ token }), data: z.object({ options: options.nullable() }) },
  /** What is needed to sign in by a passkey or, if `isNew`, to add one to those of the caller. */
  getPasskeyOptions: { body: z.object({ isNew: z.boolean() }), data: z.object({ options }) },
  signInByPasskey: { body: z.object({ credential }), data: none },
  /** Adds a passkey to those of the caller, or of the member of staff whose link `token` is, who is signed in by it. */
  addPasskey: { body: z.object({ token: token.optional(), credential }), data: none },
  signOut: { body: z.object({ everywhere: z.boolean() }), data: none },
  getMe: { data: me },
  getToday: { data: today },
  /** The notices that staff have ended in the last 90 days, the latest first; `isOpenAgain`: its cause has come back since. */
  getDoneNotices: {
    data: z.object({
      notices: z.array(notice.extend({ doneAt: time, doneBy: z.string(), isOpenAgain: z.boolean() })),
    }),
  },
  /** Ends a notice, or with `undo` opens it again. */
  markNoticeDone: { params: z.object({ id: number }), ...action({ undo: z.boolean() }) },
  /** Finds people by any part of a name or email, or by code, member number, payment, card with amount, or HubSpot contact. */
  searchPeople: {
    body: z.object({
      text: z.string().max(200).overwrite(cleanText).min(1),
      next: z.string().max(200).optional(),
    }),
    /**
     * `next` is what asks for the rows that follow; null if there are none. While `knowsContacts` is false, HubSpot's contacts were not
     * read yet, so people without a join may be missing.
     */
    data: z.object({ rows: z.array(foundPerson), next: z.string().nullable(), knowsContacts: z.boolean() }),
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
} as const satisfies Record<DeskCallName, { params?: z.ZodType; body?: z.ZodType; data: z.ZodType }>;

export type Shown = z.output<typeof shown>;
/** The calls that are shown before they are done. */
export type DeskActionName = {
  [Name in DeskCallName]: Shown extends DeskData<Name> ? Name : never;
}[DeskCallName];
/** What an action answers once it is done. */
export type DeskDone<Name extends DeskActionName> = Exclude<DeskData<Name>, Shown> & z.output<typeof done>;

type Schemas = typeof deskSchemas;
export type DeskData<Name extends DeskCallName> = z.output<Schemas[Name]['data']>;
export type DeskBody<Name extends DeskCallName> = Schemas[Name] extends { body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;
export type DeskParams<Name extends DeskCallName> = Schemas[Name] extends {
  params: infer P extends z.ZodType;
}
  ? z.output<P>
  : Record<string, never>;
