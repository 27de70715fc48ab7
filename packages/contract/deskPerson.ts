import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { NOTE_MAX_LENGTH } from '#core/staff.ts';
import { correctable } from '#core/studentDetails.ts';
import { action, number, personParams } from './deskShapes.ts';

const cleanLines = (text: string) => text.split('\n').map(cleanText).join('\n').trim();

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
} as const;
