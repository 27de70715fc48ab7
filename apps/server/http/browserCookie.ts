import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * An HttpOnly cookie that tells the browser which holds a join from others that learned its session uuid. It carries
 * the uuid and an HMAC over it, so no table is needed; a new join replaces it.
 */
export interface BrowserCookie {
  give(reply: FastifyReply, sessionUuid: string): void;
  holds(request: FastifyRequest, sessionUuid: string): boolean;
}

const NAME = 'induct_join';
const DAY_SECONDS = 86_400;

export function browserCookie(secret: string, secure: boolean): BrowserCookie {
  const sign = (uuid: string) => createHmac('sha256', secret).update(`browser\n${uuid}`).digest();
  return {
    give(reply, sessionUuid) {
      const cookie = stringifySetCookie({
        name: NAME,
        value: `${sessionUuid}.${sign(sessionUuid).toString('base64url')}`,
        path: '/api',
        httpOnly: true,
        sameSite: 'lax',
        secure,
        maxAge: DAY_SECONDS,
      });
      void reply.header('set-cookie', cookie);
    },
    holds(request, sessionUuid) {
      const [uuid, signature] = (parseCookie(request.headers.cookie ?? '')[NAME] ?? '').split('.');
      const given = Buffer.from(signature ?? '', 'base64url');
      const expected = sign(sessionUuid);
      return uuid === sessionUuid && given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
