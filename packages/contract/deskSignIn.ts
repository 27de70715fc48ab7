import { z } from 'zod';
import { staffRoles } from '#core/staff.ts';

const token = z.string().max(100);
/** What browsers make of a passkey. The library that verifies it checks its shape. */
const credential = z.looseObject({ id: z.string().max(2_000) });
/** What a browser needs to make or use a passkey. */
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
  /** Signs in by a link. In live mode that takes a passkey, which `options` are for; the link then goes with it to `addPasskey`. */
  enter: { body: z.object({ token }), data: z.object({ options: options.nullable() }) },
  /** What is needed to sign in by a passkey or, if `isNew`, to add one to those of the caller. */
  getPasskeyOptions: { body: z.object({ isNew: z.boolean() }), data: z.object({ options }) },
  signInByPasskey: { body: z.object({ credential }), data: none },
  /** Adds a passkey to those of the caller, or of the member of staff whose link `token` is, who is signed in by it. */
  addPasskey: { body: z.object({ token: token.optional(), credential }), data: none },
  /**
   * Begins to sign in by an account at the society's identity provider, at whose `url` the browser goes on. The `token` of a sign-in link
   * binds the account to its member of staff. 404: there is no provider. 503: it does not answer.
   */
  enterByProvider: { body: z.object({ token: token.optional() }), data: z.object({ url: z.url() }) },
  signOut: { body: z.object({ everywhere: z.boolean() }), data: none },
  getMe: { data: me },
} as const;
