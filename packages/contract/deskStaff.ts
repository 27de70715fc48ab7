import { z } from 'zod';
import { cleanText } from '#core/cleanText.ts';
import { staffRoles } from '#core/staff.ts';
import { action, day, number, time } from './deskShapes.ts';

const staff = z.object({
  id: z.int(),
  name: z.string(),
  email: z.string(),
  role: z.enum(staffRoles),
  /** How many passkeys they have. */
  passkeys: z.int(),
  lastSeenAt: time.nullable(),
  /** When their access was ended; null while they have it. */
  endedAt: time.nullable(),
});

/** Which of what staff did is asked for: all that is given. Days are the society's. */
const eventFilter = z.object({
  name: z.string().max(200).overwrite(cleanText).optional(),
  action: z.string().max(100).overwrite(cleanText).optional(),
  day: day.optional(),
});

/** The calls of Staff. */
export const staffSchemas = {
  getStaff: { data: z.object({ staff: z.array(staff) }) },
  /**
   * Makes a sign-in link, for somebody new or, with an `id`, for somebody of staff, whose role stays. The link is told once.
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
  /** What staff did, the latest first. `actions` are those that there are, by the names of the calls. */
  searchEvents: {
    body: eventFilter.extend({ next: z.string().max(40).optional() }),
    data: z.object({
      rows: z.array(
        z.object({
          at: time,
          name: z.string(),
          /** In words. */
          what: z.string(),
          /** What it was about; null if about nothing in particular. */
          subject: z.string().nullable(),
          /** The person, if it was about one. */
          person: z.int().nullable(),
          outcome: z.enum(['done', 'refused', 'failed']),
        }),
      ),
      next: z.string().nullable(),
    }),
  },
  getEventsFile: { query: eventFilter, data: z.string() },
} as const;
