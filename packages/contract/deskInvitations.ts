import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { invitationStates } from '#core/invitation.ts';
import { action, personId, time } from './deskShapes.ts';

const text = (max: number) => z.string().max(max).overwrite(cleanText);
const code = z.string().max(64);
const personNamed = z.object({ id: personId, name: z.string().nullable() });

/** Which invitations are asked for: all that is given. */
const filter = z.object({
  /** A code, whom it is for, a school or a campaign. */
  text: text(200).min(1).optional(),
  school: text(200).min(1).optional(),
  programme: text(100).min(1).optional(),
  campaign: text(100).min(1).optional(),
  state: z.enum(invitationStates).optional(),
  /** Those whose last day is this one or before. */
  lastDay: z.iso.date().optional(),
});
export type InvitationFilter = z.output<typeof filter>;

/** Which codes are to be changed: these, or all that a filter finds. */
const which = z.union([z.object({ codes: z.array(code).min(1).max(1_000) }), z.object({ filter })]);

const invitation = z.object({
  code: z.string(),
  /** Whom it is for; null if it is a school's. */
  person: personNamed.nullable(),
  school: z.string().nullable(),
  programme: z.string().nullable(),
  campaign: z.string().nullable(),
  /** The last moment of its last day; null if it never expires. */
  lastDay: time.nullable(),
  state: z.enum(invitationStates),
});

/** The calls of Invitations. */
export const invitationSchemas = {
  /** Why a code fails, or whom it leads to. */
  explainInvitation: {
    body: z.object({ code: text(200).min(1) }),
    data: z.object({
      sentence: z.string(),
      /** Null: it opens a join. */
      fault: z.enum(['withdrawn', 'expired', 'programme', 'member', 'unknown', 'unavailable']).nullable(),
      /** The code as it is stored; null if there is none. */
      code: z.string().nullable(),
      /** Whom it leads to, or those to whom the codes lead that are almost the same. */
      people: z.array(personNamed),
    }),
  },
  /**
   * Invitations, the latest first. `searchedTo`: what was looked at goes back to then, and `next` looks further. `hasAny`: whether there
   * are any at all.
   */
  searchInvitations: {
    body: z.object({ filter, next: z.string().max(100).optional() }),
    data: z.object({
      rows: z.array(invitation),
      next: z.string().nullable(),
      searchedTo: time.nullable(),
      hasAny: z.boolean(),
      /** The programmes that codes can be for. */
      programmes: z.array(z.object({ key: z.string(), name: z.string() })),
    }),
  },
  /** Withdraws codes. `typed`: the number of the codes, which is typed if they are many. */
  withdrawInvitations: action({ which, typed: z.int().nullable() }),
  /** Lets codes expire later: `until` is their last day. Withdrawn ones are opened again. */
  extendInvitations: action({ which, until: text(30), typed: z.int().nullable() }),
} as const;
