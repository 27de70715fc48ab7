import { createHash, randomBytes } from 'node:crypto';

/** Returns a new secret of 32 random bytes, as base64url. The database stores only its hash ({@link hashOf}). */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 of a token. Tokens are random and long, so they need no salt. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
