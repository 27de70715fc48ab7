import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { NOTE_MAX_LENGTH } from '#core/staff.ts';
import { action, number, personParams } from './deskShapes.ts';

const cleanLines = (text: string) => text.split('\n').map(cleanText).join('\n').trim();

/** The calls of what staff do about one person. */
export const personSchemas = {
  addNote: {
    params: personParams,
    body: z.object({ text: z.string().overwrite(cleanLines).min(1).max(NOTE_MAX_LENGTH) }),
    data: z.object({}),
  },
  /** Removes what a note says, by its id. Who wrote it and when stays. */
  removeNote: { params: z.object({ id: number }), ...action({}) },
} as const;
