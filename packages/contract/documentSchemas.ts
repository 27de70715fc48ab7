import { z } from 'zod';
import { linkParams, noBody, sessionParams } from './shapes.ts';

const upload = z.object({ name: z.string(), size: z.int() });

/** The shapes of the calls for documents. Multipart bodies have no schema, because they are read as streams. */
export const documentSchemas = {
  uploadTranscript: { params: sessionParams, data: upload },
  getDocuments: {
    params: sessionParams,
    data: z.object({
      /** The documents that staff have not rejected, with sizes in bytes; only for the browser that holds the join. */
      documents: z.array(upload),
      /**
       * Staff's rejection of the transcripts: the final rejection if there is one; otherwise, if all transcripts were rejected,
       * the last rejection; otherwise null. `message` is the sentence for the applicant.
       */
      rejection: z.object({ message: z.string(), isFinal: z.boolean() }).nullable(),
      /** Whether the membership has ended, so that transcripts are no longer accepted. */
      hasEnded: z.boolean(),
    }),
  },
  createUploadLink: {
    params: sessionParams,
    body: noBody,
    /** `path` is the path of the page on which a phone uploads. */
    data: z.object({ path: z.string(), expiresAt: z.iso.datetime() }),
  },
  getUploadLink: { params: linkParams, data: z.object({ expiresAt: z.iso.datetime() }) },
  uploadByLink: { params: linkParams, data: upload },
  uploadResume: { data: z.object({ success: z.boolean(), message: z.string() }) },
} as const;
