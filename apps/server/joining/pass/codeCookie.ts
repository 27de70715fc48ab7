import { createHash, randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CODE_MINUTES } from '#core/pass.ts';

const NAME = 'induct_code';

/** Sets a cookie with a secret, so that a mailed code works only in this browser. Returns the secret's hash. */
export function giveCodeCookie(reply: FastifyReply, secure: boolean): Buffer {
  const secret = randomBytes(16).toString('base64url');
  const cookie = stringifySetCookie({
    name: NAME,
    value: secret,
    path: '/api',
    httpOnly: true,
    sameSite: 'lax',
    secure,
    maxAge: CODE_MINUTES * 60,
  });
  void reply.header('set-cookie', cookie);
  return hashOf(secret);
}

/** Returns the hash of the secret in the browser's cookie; null if there is none. */
export function codeBrowserOf(request: FastifyRequest): Buffer | null {
  const secret = parseCookie(request.headers.cookie ?? '')[NAME];
  return secret ? hashOf(secret) : null;
}

const hashOf = (secret: string) => createHash('sha256').update(secret).digest();
