import { z } from 'zod';
import { staffRoles } from '#core/staff.ts';

const token = z.string().max(100);
/** A browser's answer to a passkey challenge. The library that verifies it checks its shape. */
const credential = z.looseObject({ id: z.string().max(2_000) });
/** The options with which a browser makes or uses a passkey. */
const options = z.looseObject({ challenge: z.string() });
const none = z.object({});

const me = z.object({
  name: z.string(),
  role: z.enum(staffRoles),
  mode: z.enum(['local', 'live']),
  society: z.string(),
  /** The society's time zone, in which all times are shown. */
  timeZone: z.string(),
});

/** The calls that sign in and out. */
export const signInSchemas = {
  /**
   * Signs in by a link. In live mode this needs a passkey: `options` are for making it, and the link's token is then sent with it
   * to `addPasskey`.
   */
  enter: { body: z.object({ token }), data: z.object({ options: options.nullable() }) },
  /** Returns the options to sign in by a passkey or, if `isNew`, to add a passkey for the caller. */
  getPasskeyOptions: { body: z.object({ isNew: z.boolean() }), data: z.object({ options }) },
  signInByPasskey: { body: z.object({ credential }), data: none },
  /**
   * Adds a passkey for the caller or, with the `token` of a sign-in link, for the link's member of staff, who is then signed in.
   */
  addPasskey: { body: z.object({ token: token.optional(), credential }), data: none },
  /**
   * Begins a sign-in by an account of the society's identity provider. The browser continues at `url`. The `token` of a sign-in
   * link binds the account to the link's member of staff. 404: there is no provider. 503: it does not answer.
   */
  enterByProvider: { body: z.object({ token: token.optional() }), data: z.object({ url: z.url() }) },
  signOut: { body: z.object({ everywhere: z.boolean() }), data: none },
  getMe: { data: me },
} as const;
