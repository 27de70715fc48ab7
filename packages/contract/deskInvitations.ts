import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { invitationStates } from '#core/invitation.ts';
import { action, day, number, personId, time } from './deskShapes.ts';

const text = (max: number) => z.string().max(max).overwrite(cleanText);
const code = text(64);
const personNamed = z.object({ id: personId, name: z.string().nullable() });

/** A filter of invitations. An invitation must match all fields that are given. */
const filter = z.object({
  /** A code, the name of its person, a school or a campaign. */
  text: text(200).min(1).optional(),
  school: text(200).min(1).optional(),
  programme: text(100).min(1).optional(),
  campaign: text(100).min(1).optional(),
  state: z.enum(invitationStates).optional(),
  /** Only invitations whose last day is this day or earlier. */
  lastDay: day.optional(),
});
export type InvitationFilter = z.output<typeof filter>;

/** The codes to change: these, or all that a filter finds. */
const which = z.union([z.object({ codes: z.array(code).min(1).max(1_000) }), z.object({ filter })]);

const invitation = z.object({
  code: z.string(),
  /** The person it is for; null if it is a school's. */
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
  /** `mint`: codes are generated. */
  kind: z.enum(['upload', 'mint']),
  /**
   * `checked` and `made` wait for a decision of staff; `arriving`, `making`, `checking` and `importing` continue automatically.
   */
  state: z.enum(['arriving', 'making', 'made', 'checking', 'checked', 'importing', 'done', 'failed']),
  staff: z.string(),
  fileName: z.string(),
  campaign: z.string().nullable(),
  at: time,
  /** How much of the present work is done, from 0 to 1. */
  share: z.number(),
  /** How many lines or codes have each result. Each is null until it is known. */
  made: z.int().nullable(),
  added: z.int().nullable(),
  changed: z.int().nullable(),
  unchanged: z.int().nullable(),
  refused: z.int().nullable(),
  /** The first lines that were refused, and why. */
  refusals: z.array(z.object({ line: z.int(), text: z.string() })),
  doubts: z.array(z.string()),
  failure: z.string().nullable(),
  /** Whether the file and the refused lines have been deleted. */
  isEmptied: z.boolean(),
});
/** The options for generating codes. */
const mintOptions = { campaign, programme: text(100).optional(), lastDay: day.optional() };

/** The calls of the page Invitations. */
export const invitationSchemas = {
  /** Returns the contact or school that a code leads to, or why the code fails. */
  explainInvitation: {
    body: z.object({ code: text(200).min(1) }),
    data: z.object({
      sentence: z.string(),
      /** Null if the code opens a join. */
      fault: z.enum(['withdrawn', 'expired', 'programme', 'member', 'unknown', 'unavailable']).nullable(),
      /** The code as it is stored; null if no such code is stored. */
      code: z.string().nullable(),
      /** The person that the code leads to. For an unknown code, the persons of codes that are almost the same. */
      people: z.array(personNamed),
    }),
  },
  /**
   * Returns invitations, the latest first. `searchedTo`: how far back in time the search went; `next` continues it. `hasAny`:
   * whether there are any invitations at all.
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
  /** Returns all invitations that the filter finds. */
  getInvitationsFile: { body: z.object({ filter }), data: z.string() },
  /** Returns the latest files. */
  getImports: { data: z.object({ imports: z.array(imported) }) },
  getImport: { params: z.object({ id: number }), data: imported },
  /** Uploads a file of invitations, which is then checked. Nothing is imported yet. 413: the file is too large. */
  uploadInvitations: { query: z.object({ name: fileName, campaign }), data: z.object({ id: z.int() }) },
  /** Uploads a file of contacts, for whom codes are then generated. */
  uploadContacts: {
    query: z.object({ name: fileName, ...mintOptions, imports: z.enum(['yes', 'no']) }),
    data: z.object({ id: z.int() }),
  },
  /** Imports a file that was checked. */
  importInvitations: { params: z.object({ id: number }), ...action({}) },
  /**
   * Generates codes for a school, or codes whose contacts are to be filled in. Of several calls with the same `once`, only the
   * first generates codes.
   */
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
  /** Returns the refused lines of a file, with the file's columns. 404: there are none, or they have been deleted. */
  getRefusedLines: { params: z.object({ id: number }), data: z.string() },
  /** Returns the generated codes as a file that can be imported. */
  getMadeCodes: { params: z.object({ id: number }), data: z.string() },
  /** Withdraws codes. `typed`: the number of codes, which staff must type if there are many. */
  withdrawInvitations: action({ which, typed: z.int().nullable() }),
  /** Sets a later last day (`until`) for codes. Withdrawn codes become valid again. */
  extendInvitations: action({ which, until: day, typed: z.int().nullable() }),
} as const;
