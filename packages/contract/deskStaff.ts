import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { staffRoles } from '#core/staff.ts';
import { action, day, number, time } from './deskShapes.ts';

const staff = z.object({
  id: z.int(),
  name: z.string(),
  email: z.string(),
  role: z.enum(staffRoles),
  /** How many passkeys the member of staff has. */
  passkeys: z.int(),
  lastSeenAt: time.nullable(),
  /** When their access was ended; null if it has not been ended. */
  endedAt: time.nullable(),
});

/** A filter of the log of what staff did. An entry must match all fields that are given. Days are in the society's time zone. */
const eventFilter = z.object({
  name: z.string().max(200).overwrite(cleanText).optional(),
  action: z.string().max(100).overwrite(cleanText).optional(),
  day: day.optional(),
});

/** The calls of the page Staff. */
export const staffSchemas = {
  getStaff: { data: z.object({ staff: z.array(staff) }) },
  /**
   * Makes a sign-in link for a new member of staff or, with an `id`, for an existing one, whose role is kept. The link is
   * returned only this once.
   */
  makeStaffLink: action(
    {
      id: z.int().positive().nullable(),
      name: z.string().max(100).overwrite(cleanText),
      email: z.string().max(200).overwrite(cleanText),
      role: z.enum(staffRoles),
    },
    { url: z.string() },
  ),
  setStaffRole: { params: z.object({ id: number }), ...action({ role: z.enum(staffRoles) }) },
  endStaffAccess: { params: z.object({ id: number }), ...action({}) },
  /** Returns what staff did, the latest first. */
  searchEvents: {
    body: eventFilter.extend({ next: z.string().max(40).optional() }),
    data: z.object({
      rows: z.array(
        z.object({
          at: time,
          name: z.string(),
          /** What was done, in words. */
          what: z.string(),
          /** What the action was about; null if it was about nothing in particular. */
          subject: z.string().nullable(),
          /** The number of the person, if the action was about one. */
          person: z.int().nullable(),
          outcome: z.enum(['done', 'refused', 'failed']),
        }),
      ),
      next: z.string().nullable(),
    }),
  },
  getEventsFile: { query: eventFilter, data: z.string() },
} as const;
