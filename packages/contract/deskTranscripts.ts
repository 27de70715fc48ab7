import { z } from 'zod';
import { MOST_MARKED } from './deskLimits.ts';
import { action, number, personId, personParams, shownAs, time } from './deskShapes.ts';

export const transcriptTabs = ['decide', 'overdue', 'decided'] as const;
export type TranscriptTab = (typeof transcriptTabs)[number];

/** A join, as addresses name it: the number of its person, and which of theirs it is, the oldest being 1. */
const join = z.int().positive();
const named = z.object({ id: personId, join });
/** One of `rejectionReasons` (packages/documents). */
const reason = z.string().max(40);
const verdict = z.enum(['accepted', 'rejected', 'rejected finally']);

const row = named.extend({
  name: z.string().nullable(),
  /** Of `decide` since when the oldest file waits; of `overdue` when it was paid; of `decided` when that was. */
  since: time,
  programme: z.string(),
  files: z.int(),
  /** Of `overdue`: when staff reminded the member last; null if they never did. */
  remindedAt: time.nullable(),
  /** Of `decided`: what was decided last, and by whom, if that is known. */
  verdict: verdict.nullable(),
  by: z.string().nullable(),
});

const document = z.object({
  id: z.uuid(),
  name: z.string(),
  sizeBytes: z.int(),
  uploadedAt: time,
  shownAs,
  review: z.enum(['open', 'accepted', 'rejected']),
  isRemoved: z.boolean(),
});

/** The calls of Transcripts. */
export const transcriptSchemas = {
  /** Joins whose transcripts wait for a decision, the oldest first; whose proof is overdue, too; or that were decided, the latest first. */
  getTranscripts: {
    query: z.object({ tab: z.enum(transcriptTabs).default('decide'), next: z.string().max(100).optional() }),
    data: z.object({ rows: z.array(row), next: z.string().nullable() }),
  },
  /** All of a list. */
  getTranscriptsFile: { query: z.object({ tab: z.enum(transcriptTabs) }), data: z.string() },
  /** All that one needs to decide on the transcripts of a join. 404: there is none. */
  getTranscript: {
    params: z.object({ id: number, join: number }),
    data: named.extend({
      name: z.string().nullable(),
      email: z.string().nullable(),
      programme: z.string(),
      /** Who is eligible, in the society's words. */
      eligibility: z.object({ intro: z.string(), rules: z.array(z.string()), note: z.string() }),
      claimed: z.object({
        name: z.string().nullable(),
        school: z.string().nullable(),
        graduationYear: z.string().nullable(),
        gpa: z.string().nullable(),
      }),
      /** The oldest first. */
      documents: z.array(document),
      /** `over`: the membership has ended, so there is nothing to decide. */
      standing: z.enum(['open', 'accepted', 'rejected', 'rejected finally', 'none', 'over']),
      /** Decisions of before, the oldest first. `reason`: as the applicant reads it. */
      decisions: z.array(
        z.object({
          at: time,
          by: z.string().nullable(),
          verdict: z.enum([...verdict.options, 'taken back']),
          reason: z.string().nullable(),
        }),
      ),
      story: z.array(z.object({ at: time, text: z.string(), by: z.string() })),
      /** The join whose transcripts wait next; null if none does. */
      next: named.nullable(),
    }),
  },
  /** Accepts the transcripts of a join that wait or, where none waits, takes their last rejection back. */
  acceptTranscripts: { params: personParams, ...action({ join }) },
  /** Rejects them, also if they were accepted; or corrects the reason of a rejection. */
  rejectTranscripts: { params: personParams, ...action({ join, reason }) },
  /** Takes the last decision back, if it is the caller's and its letter has not begun to be sent. */
  reopenTranscripts: { params: personParams, ...action({ join }) },
  /** Rejects them for good, and gives the membership's price back, less the processing fee. */
  rejectFinally: { params: personParams, ...action({ join, reason }) },
  /** Reminds members whose proof is overdue, none twice in a week. */
  remindOfProof: action({ people: z.array(named).min(1).max(MOST_MARKED) }),
  /** A document as it was uploaded. 404: there is none, or its file was removed. 409: it cannot be read. */
  openDocument: { params: z.object({ id: z.uuid() }), data: z.custom<ArrayBuffer>() },
} as const;
