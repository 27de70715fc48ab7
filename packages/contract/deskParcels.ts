import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { MOST_MARKED } from './deskLimits.ts';
import { action, personId } from './deskShapes.ts';

/** The tabs of the page Parcels, as they are written in URLs. */
export const parcelTabs = ['to-send', 'held', 'sent'] as const;
export type ParcelTab = (typeof parcelTabs)[number];

const tab = z.enum(parcelTabs);
/** Goods are identified by their person, the payment and the line in its order, since the desk never gets a join's uuid. */
const line = { person: personId, intent: z.string().max(100), line: z.int().nonnegative() };
const note = z.string().max(200).overwrite(cleanText);
const lines = <Line extends z.ZodType>(each: Line) => z.array(each).min(1).max(MOST_MARKED);

const parcel = z.object({
  person: personId,
  name: z.string().nullable(),
  /** The address on one line; null if it is unknown. */
  address: z.string().nullable(),
  /** How many days ago the payment was made. */
  days: z.int(),
  goods: z.array(
    z.object({
      intent: z.string(),
      line: z.int(),
      name: z.string(),
      /** In words: that it is to be sent, why it is held, or when and by whom it was sent. */
      state: z.string(),
    }),
  ),
});

/** The calls of the page Parcels. */
export const parcelSchemas = {
  /** Returns the parcels of a tab, the oldest first. The tab `sent` has one row for each item, the latest first. */
  getParcels: {
    query: z.object({ tab, next: z.string().max(200).optional() }),
    data: z.object({ rows: z.array(parcel), next: z.string().nullable() }),
  },
  /** Returns the packing list of a tab as a CSV file. */
  getPackingList: { query: z.object({ tab }), data: z.string() },
  /** Records that exactly these goods were sent. Goods without a note get the note for all. */
  shipGoods: action(
    {
      lines: lines(z.object({ ...line, note: note.optional() })),
      note,
      /** Whether to send held goods as well. */
      evenHeld: z.boolean(),
    },
    { outcomes: z.array(z.object({ person: z.string(), goods: z.string(), outcome: z.string() })) },
  ),
  /** Undoes the record that these goods were sent. */
  unshipGoods: action({ lines: lines(z.object(line)) }),
} as const;
