import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { papers } from '#core/paper.ts';
import { NOTE_MAX_LENGTH } from '#core/staff.ts';
import { correctable } from '#core/studentDetails.ts';
import { action, joinNumber, number, personId, personParams } from './deskShapes.ts';

const cleanLines = (text: string) => text.split('\n').map(cleanText).join('\n').trim();

/** A call that answers with a file, and not with JSON. */
const file = z.object({ bytes: z.custom<Uint8Array>(), type: z.string(), name: z.string() });

/** Longer text is refused by the rules of Student Details, with a sentence. */
const text = z.string().max(2_000);

/** The calls of what staff do about one person. */
export const personSchemas = {
  /** What is known of a person in the fields that can be corrected. 409: nobody has joined as this person. */
  getCorrectable: {
    params: personParams,
    data: z.object({ details: z.record(z.enum(correctable), z.string()) }),
  },
  /** Corrects a person in these fields. 400: `errors` has a sentence for each field that is wrong. */
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
  /** Removes what a note says, by its id. Who wrote it and when stays. */
  removeNote: { params: z.object({ id: number }), ...action({}) },
  /** The certificate of a join as PDF, with another spelling of the name and on another paper if that is given. 409: it cannot be made. */
  getCertificate: {
    params: personParams,
    query: z.object({
      join: z.coerce.number().pipe(joinNumber),
      name: z.string().max(200).overwrite(cleanText).optional(),
      paper: z.enum(papers).optional(),
    }),
    data: file,
  },
  /** Adds a transcript to a join. The body is the file alone, as `application/octet-stream`. */
  addTranscript: {
    params: personParams,
    query: z.object({ join: z.coerce.number().pipe(joinNumber), name: z.string().max(1_000) }),
    data: z.object({ name: z.string() }),
  },
  /** Sends to HubSpot again what it has refused, of everybody (null) or of one person, of whom it gets all anew. */
  retryAtHubspot: action({ person: personId.nullable() }),
  /** Says that two persons are one, or that they are two though they are alike. */
  joinPersons: { params: personParams, ...action({ other: personId }) },
  keepApart: { params: personParams, ...action({ other: personId }) },
  /** Says that a person is who HubSpot has as this contact: the two become one. */
  linkContact: { params: personParams, ...action({ contact: z.string().regex(/^\d{1,20}$/) }) },
} as const;
