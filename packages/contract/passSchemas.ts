import { z } from 'zod';
import { detailText, email, given, linkParams, none, programmeOfJoin, token, uuid } from './shapes.ts';

const reminders = z.object({ areStopped: z.boolean() });

const openedJoin = z.object({ uuid, goOn: z.string(), programme: programmeOfJoin });

/** The shapes of the calls for links in letters, and for reminders. */
export const passSchemas = {
  /**
   * Opens the link in a letter. A browser that holds the join gets the page where it continues. Any other browser gets only the
   * ways to prove that its user is the joiner.
   */
  openPass: {
    body: z.object({ token }),
    data: z.object({
      join: openedJoin.nullable(),
      /** Whether a last name and a ZIP code can serve as proof, because the join has both. */
      hasDetails: z.boolean(),
      /** Whether a code that was mailed for this browser is still valid. */
      isCodeSent: z.boolean(),
    }),
  },
  sendPassCode: { body: z.object({ token }), data: none },
  provePassByCode: { body: z.object({ token, code: given(20) }), data: openedJoin },
  provePassByName: {
    body: z.object({ token, lastName: detailText, zipcode: detailText }),
    data: openedJoin,
  },
  /** Requests letters with the links to an email's joins. The answer is the same whether or not the email has joins. */
  sendPassLinks: { body: z.object({ email }), data: none },
  /** Whether reminders to the email of this token are stopped. The token comes from a reminder's link. */
  getReminders: { params: linkParams, data: reminders },
  setReminders: { params: linkParams, body: reminders, data: reminders },
} as const;
