import { z } from 'zod';
import { MOST_MARKED } from './deskLimits.ts';
import { action, number, personId, personParams, shownAs, time } from './deskShapes.ts';

export const transcriptTabs = ['decide', 'overdue', 'decided'] as const;
export type TranscriptTab = (typeof transcriptTabs)[number];

/** A join as URLs identify it: the number of its person, and its number among the person's joins (the oldest is 1). */
const join = z.int().positive();
const named = z.object({ id: personId, join });
/** One of `rejectionReasons` (packages/documents). */
const reason = z.string().max(40);
const verdict = z.enum(['accepted', 'rejected', 'rejected finally']);

const row = named.extend({
  name: z.string().nullable(),
  /**
   * In the tab `decide`: when the oldest waiting file was uploaded. In `overdue`: when the join was paid. In `decided`: when the
   * decision was made.
   */
  since: time,
  programme: z.string(),
  files: z.int(),
  /** In the tab `overdue`: when staff last reminded the member; null if they never did. */
  remindedAt: time.nullable(),
  /** In the tab `decided`: the last decision, and who made it, if that is known. */
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

/** The calls of the page Transcripts. */
export const transcriptSchemas = {
  /**
   * Returns the joins of a tab: transcripts that wait for a decision (the oldest first), overdue proofs (the oldest first), or
   * decided transcripts (the latest first).
   */
  getTranscripts: {
    query: z.object({ tab: z.enum(transcriptTabs).default('decide'), next: z.string().max(100).optional() }),
    data: z.object({ rows: z.array(row), next: z.string().nullable() }),
  },
  /** Returns all rows of a tab. */
  getTranscriptsFile: { query: z.object({ tab: z.enum(transcriptTabs) }), data: z.string() },
  /** Returns all that staff need to decide on the transcripts of a join. 404: there is no such join. */
  getTranscript: {
    params: z.object({ id: number, join: number }),
    data: named.extend({
      name: z.string().nullable(),
      email: z.string().nullable(),
      programme: z.string(),
      /** The programme's eligibility rules, in the society's words. */
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
      /** Earlier decisions, the oldest first. `reason`: as the applicant reads it. */
      decisions: z.array(
        z.object({
          at: time,
          by: z.string().nullable(),
          verdict: z.enum([...verdict.options, 'taken back']),
          reason: z.string().nullable(),
        }),
      ),
      story: z.array(z.object({ at: time, text: z.string(), by: z.string() })),
      /** The join whose transcripts wait next; null if there is none. */
      next: named.nullable(),
    }),
  },
  /** Accepts the waiting transcripts of a join. If none waits, undoes their last rejection. */
  acceptTranscripts: { params: personParams, ...action({ join }) },
  /** Rejects transcripts, even accepted ones, or corrects the reason of a rejection. */
  rejectTranscripts: { params: personParams, ...action({ join, reason }) },
  /** Undoes the last decision, if the caller made it and the sending of its letter has not begun. */
  reopenTranscripts: { params: personParams, ...action({ join }) },
  /** Rejects transcripts for good, and refunds the membership's price less the processing fee. */
  rejectFinally: { params: personParams, ...action({ join, reason }) },
  /** Reminds members whose proof is overdue. No member is reminded twice in a week. */
  remindOfProof: action({ people: z.array(named).min(1).max(MOST_MARKED) }),
  /** Returns a document as it was uploaded. 404: there is none, or its file was removed. 409: it cannot be read. */
  openDocument: { params: z.object({ id: z.uuid() }), data: z.custom<ArrayBuffer>() },
} as const;
