import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { papers } from '#core/paper.ts';
import { NOTE_MAX_LENGTH } from '#core/staff.ts';
import { correctable } from '#core/studentDetails.ts';
import { action, joinNumber, number, personId, personParams } from './deskShapes.ts';

const cleanLines = (text: string) => text.split('\n').map(cleanText).join('\n').trim();

/** The answer of a call that returns a file and not JSON. */
const file = z.object({ bytes: z.custom<Uint8Array>(), type: z.string(), name: z.string() });

/** A field of a person. Its real limit is left to the rules of Student Details, which refuse a longer text with a sentence. */
const text = z.string().max(2_000);

/** The calls for what staff do about one person. */
export const personSchemas = {
  /** Returns the fields of a person that can be corrected. 409: the person has no join. */
  getCorrectable: {
    params: personParams,
    data: z.object({ details: z.record(z.enum(correctable), z.string()) }),
  },
  /** Corrects these fields of a person. 400: `errors` has a sentence for each invalid field. */
  correctPerson: {
    params: personParams,
    ...action({
      details: z.partialRecord(z.enum(correctable), text),
      sendAgain: z.boolean(),
      endLinks: z.boolean(),
    }),
  },
  addNote: {
    params: personParams,
    body: z.object({ text: z.string().overwrite(cleanLines).min(1).max(NOTE_MAX_LENGTH) }),
    data: z.object({}),
  },
  /** Removes the text of a note, by the note's id. Its author and time are kept. */
  removeNote: { params: z.object({ id: number }), ...action({}) },
  /**
   * Returns the certificate of a join as PDF, optionally with another spelling of the name (`name`) and another paper size. 409:
   * it cannot be made.
   */
  getCertificate: {
    params: personParams,
    query: z.object({
      join: z.coerce.number().pipe(joinNumber),
      name: z.string().max(200).overwrite(cleanText).optional(),
      paper: z.enum(papers).optional(),
    }),
    data: file,
  },
  /** Adds a transcript to a join. The body is only the file, as `application/octet-stream`. */
  addTranscript: {
    params: personParams,
    query: z.object({ join: z.coerce.number().pipe(joinNumber), name: z.string().max(1_000) }),
    data: z.object({ name: z.string() }),
  },
  /**
   * Sends to HubSpot again the data that it has refused: of everybody (null), or of one person, whose data are then all sent
   * again.
   */
  retryAtHubspot: action({ person: personId.nullable() }),
  /** Records that two persons are one. The next call records that they are two although they are likely the same. */
  joinPersons: { params: personParams, ...action({ other: personId }) },
  keepApart: { params: personParams, ...action({ other: personId }) },
  /** Records that a person is this contact in HubSpot: the person is merged with the contact's person. */
  linkContact: { params: personParams, ...action({ contact: z.string().regex(/^\d{1,20}$/) }) },
} as const;
