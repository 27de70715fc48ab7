import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { type LinkedScreen, passPath } from '#core/navigation.ts';
import { PASS_DAYS } from '#core/pass.ts';
import type { Secrets } from '../platform/config/secrets.ts';
import { Refusal } from '../platform/http/refusal.ts';

/** The content of a pass: its join, and the time at which it was made. */
export interface Pass {
  sessionUuid: string;
  madeAt: Date;
}

/** The operations on passes, which need the server's secrets but no database. */
export interface Passes {
  /**
   * Returns the address that opens the join on any device for {@link PASS_DAYS} days: at `screen` or, without it, where the join
   * continues.
   */
  address(sessionUuid: string, screen?: LinkedScreen): string;
  /** Decrypts a token. Throws a {@link Refusal} (403) if the token is not ours or has expired. */
  read(token: string): Pass;
  /**
   * Returns the six digits that are mailed for a join. Each `salt` gives other digits; knowing the salt is not enough to compute
   * them.
   */
  code(sessionUuid: string, salt: string): string;
  /**
   * Returns the keyed hash of a text that is recognised but not stored: a mailed code, or an email whose requests are counted.
   */
  hash(purpose: 'code' | 'email', text: string): Buffer;
}

export const PASS_INVALID =
  'This link is incomplete or no longer valid. Please open it exactly as it was sent, or ask for a new one.';
export const PASS_EXPIRED = 'This link has expired. Please ask for a new one.';

const DAY_MS = 86_400_000;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The size (bytes) of the encrypted content: a uuid and a time in ms. */
const SEALED_BYTES = 16 + 6;

/**
 * Makes and reads passes. A pass is encrypted (AES-256-GCM), not only signed: before payment the uuid in the pass opens the join,
 * and a forwarded link must not reveal the uuid. The first link secret encrypts; any of the secrets decrypts. The token is in the
 * fragment of the link's address, which browsers do not send to servers, so that no log contains the token.
 */
export function sealedPasses(secrets: Secrets, publicUrl: string, now: () => Date): Passes {
  const keyOf = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', 'induct pass', 32));
  const keys = secrets.map(keyOf);
  const key = keyOf(secrets[0]);

  function seal(sessionUuid: string): string {
    const plain = Buffer.alloc(SEALED_BYTES);
    plain.write(sessionUuid.replaceAll('-', ''), 'hex');
    plain.writeUIntBE(now().getTime(), 16, 6);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce);
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    );
  }

  function unseal(token: string): Buffer | null {
    const sealed = Buffer.from(token, 'base64url');
    // Accepts only the canonical base64url form of the bytes, so that each pass has exactly one token.
    if (sealed.length !== NONCE_BYTES + SEALED_BYTES + TAG_BYTES || sealed.toString('base64url') !== token)
      return null;
    for (const each of keys) {
      const cipher = createDecipheriv(CIPHER, each, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([cipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()]);
      } catch {
        // This key does not decrypt the token, so the next key is tried.
      }
    }
    return null;
  }

  const hmac = (...parts: string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest();

  return {
    address: (sessionUuid, screen) => `${publicUrl}${passPath(screen)}#${seal(sessionUuid)}`,
    read(token) {
      const plain = unseal(token);
      if (!plain) throw new Refusal(403, PASS_INVALID);
      const madeAt = new Date(plain.readUIntBE(16, 6));
      if (madeAt.getTime() + PASS_DAYS * DAY_MS < now().getTime()) throw new Refusal(403, PASS_EXPIRED);
      const hex = plain.toString('hex', 0, 16);
      return { sessionUuid: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), madeAt };
    },
    // The remainder of a 48-bit number divided by a million: no code is noticeably more likely than another.
    code: (sessionUuid, salt) =>
      String(hmac('digits', sessionUuid, salt).readUIntBE(0, 6) % 1_000_000).padStart(6, '0'),
    hash: (purpose, text) => hmac(purpose, text),
  };
}
