import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../platform/config/secrets.ts';
import { Refusal } from '../platform/http/refusal.ts';

/** The data that a link to a contact's page signs: the kind of page, the contact and every parameter that the page uses. */
export interface LinkTarget {
  kind: 'init' | 'checkout' | 'resume';
  contactId: string;
  /** The parameters `mp`, `usp` and `c` of a checkout link that are present, as text from the query string. */
  parameters?: Record<string, string>;
}
export interface LinkSignature {
  exp?: string | undefined;
  sig?: string | undefined;
}

export interface Links {
  /**
   * Returns whether the link is signed. Throws a {@link Refusal} (403) if the link is invalid or expired, or if it is unsigned
   * and unsigned links are not allowed. A valid signature proves that the link is ours, but not that the contact exists.
   */
  check(target: LinkTarget, signature: LinkSignature): 'signed' | 'unsigned';
  sign(target: LinkTarget, expires: Date): { exp: string; sig: string };
}

export const LINK_INVALID =
  'This link is not valid. Please use the link from your email exactly as it was sent.';
export const LINK_EXPIRED = 'This link has expired. Please ask us for a new one.';

/**
 * Signs links with HMAC-SHA-256 over all parameters and the expiry. Signs with the first of `secrets`; accepts a signature made
 * with any of them. Accepts unsigned links only with `allowUnsigned`.
 */
export function signedLinks(secrets: Secrets, allowUnsigned: boolean, now: () => Date): Links {
  const hmac = (secret: string, target: LinkTarget, exp: string) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(canonical(target, exp)))
      .digest();
  return {
    check(target, { exp, sig }) {
      if (exp === undefined && sig === undefined && allowUnsigned) return 'unsigned';
      const given = Buffer.from(sig ?? '', 'base64url');
      const isOurs = secrets.some((secret) => {
        const expected = hmac(secret, target, exp ?? '');
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
      if (!isOurs) throw new Refusal(403, LINK_INVALID);
      if (!/^\d{1,12}$/.test(exp ?? '') || Number(exp) * 1000 < now().getTime())
        throw new Refusal(403, LINK_EXPIRED);
      return 'signed';
    },
    sign(target, expires) {
      const exp = String(Math.floor(expires.getTime() / 1000));
      return { exp, sig: hmac(secrets[0], target, exp).toString('base64url') };
    },
  };
}

function canonical({ kind, contactId, parameters = {} }: LinkTarget, exp: string): unknown {
  return [
    'induct link',
    kind,
    contactId,
    Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1)),
    exp,
  ];
}
