import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { invitationStates } from '#core/invitation.ts';
import { action, day, number, personId, time } from './deskShapes.ts';

const text = (max: number) => z.string().max(max).overwrite(cleanText);
const code = text(64);
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
  lastDay: day.optional(),
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

const campaign = text(100).optional();
const fileName = text(200).min(1);
const imported = z.object({
  id: z.int(),
  /** `mint`: codes are made. */
  kind: z.enum(['upload', 'mint']),
  /** `checked` and `made` wait for staff; `arriving`, `making`, `checking` and `importing` go on by themselves. */
  state: z.enum(['arriving', 'making', 'made', 'checking', 'checked', 'importing', 'done', 'failed']),
  staff: z.string(),
  fileName: z.string(),
  campaign: z.string().nullable(),
  at: time,
  /** How much of the work under way is done, from 0 to 1. */
  share: z.number(),
  /** How many lines or codes have each result. Those that are not known yet are null. */
  made: z.int().nullable(),
  added: z.int().nullable(),
  changed: z.int().nullable(),
  unchanged: z.int().nullable(),
  refused: z.int().nullable(),
  /** The first lines that were refused, and why. */
  refusals: z.array(z.object({ line: z.int(), text: z.string() })),
  doubts: z.array(z.string()),
  failure: z.string().nullable(),
  /** Whether the file and the refused lines are deleted. */
  isEmptied: z.boolean(),
});
/** How many codes are to be made, and for what. */
const mintOptions = { campaign, programme: text(100).optional(), lastDay: day.optional() };

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
  /** All that the filters find. */
  getInvitationsFile: { body: z.object({ filter }), data: z.string() },
  /** The latest files. */
  getImports: { data: z.object({ imports: z.array(imported) }) },
  getImport: { params: z.object({ id: number }), data: imported },
  /** Takes in a file of invitations, which is then checked. Nothing is imported. 413: it is too large. */
  uploadInvitations: { query: z.object({ name: fileName, campaign }), data: z.object({ id: z.int() }) },
  /** Takes in a file of contacts, for whom codes are then made. */
  uploadContacts: {
    query: z.object({ name: fileName, ...mintOptions, imports: z.enum(['yes', 'no']) }),
    data: z.object({ id: z.int() }),
  },
  /** Imports a file that was checked. */
  importInvitations: { params: z.object({ id: number }), ...action({}) },
  /** Makes codes, for a school or to be filled in: only the first time of those with the same `once`. */
  makeCodes: action(
    {
      ...mintOptions,
      count: z.int().nullable(),
      school: text(200).optional(),
      imports: z.boolean(),
      once: z.uuid(),
    },
    { id: z.int() },
  ),
  /** The refused lines of a file, with its columns. 404: there are none, or they are deleted. */
  getRefusedLines: { params: z.object({ id: number }), data: z.string() },
  /** The codes that were made, as a file to be imported. */
  getMadeCodes: { params: z.object({ id: number }), data: z.string() },
  /** Withdraws codes. `typed`: the number of the codes, which is typed if they are many. */
  withdrawInvitations: action({ which, typed: z.int().nullable() }),
  /** Lets codes expire later: `until` is their last day. Withdrawn ones are opened again. */
  extendInvitations: action({ which, until: day, typed: z.int().nullable() }),
} as const;
