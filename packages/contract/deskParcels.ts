import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { MOST_MARKED } from './deskLimits.ts';
import { action, personId } from './deskShapes.ts';

/** The tabs of Parcels, as addresses have them. */
export const parcelTabs = ['to-send', 'held', 'sent'] as const;
export type ParcelTab = (typeof parcelTabs)[number];

const tab = z.enum(parcelTabs);
/** Goods are named by their person, the payment and the line in its order: a join's uuid is never told. */
const line = { person: personId, intent: z.string().max(100), line: z.int().nonnegative() };
const note = z.string().max(200).overwrite(cleanText);
const lines = <Line extends z.ZodType>(each: Line) => z.array(each).min(1).max(MOST_MARKED);

const parcel = z.object({
  person: personId,
  name: z.string().nullable(),
  /** On one line; null if none is known. */
  address: z.string().nullable(),
  /** How many days ago it was paid. */
  days: z.int(),
  goods: z.array(
    z.object({
      intent: z.string(),
      line: z.int(),
      name: z.string(),
      /** In words: to send, why it is held, or when it was sent by whom. */
      state: z.string(),
    }),
  ),
});

/** The calls of Parcels. */
export const parcelSchemas = {
  /** The parcels of a tab, the oldest first; of `sent` one row for each of the goods, the latest first. */
  getParcels: {
    query: z.object({ tab, next: z.string().max(200).optional() }),
    data: z.object({ rows: z.array(parcel), next: z.string().nullable() }),
  },
  /** The packing list of a tab, as a CSV file. */
  getPackingList: { query: z.object({ tab }), data: z.string() },
  /** Records that exactly these goods were sent, with a note for each or else the one for all. */
  shipGoods: action(
    {
      lines: lines(z.object({ ...line, note: note.optional() })),
      note,
      /** Whether goods that are held are sent, too. */
      evenHeld: z.boolean(),
    },
    { outcomes: z.array(z.object({ person: z.string(), goods: z.string(), outcome: z.string() })) },
  ),
  /** Takes back that these goods were sent. */
  unshipGoods: action({ lines: lines(z.object(line)) }),
} as const;
