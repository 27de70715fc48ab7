import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * An HttpOnly cookie that tells the browser which holds a join from others that learned its session uuid. It carries
 * the uuids of the joins that were last started or paid there, each with an HMAC, so no table is needed.
 */
export interface BrowserCookie {
  give(reply: FastifyReply, sessionUuid: string): void;
  holds(request: FastifyRequest, sessionUuid: string): boolean;
  /** The joins that the browser holds, the newest first. */
  joinsOf(request: FastifyRequest): string[];
}

const NAME = 'induct_join';
const DAY_SECONDS = 86_400;
/** Tabs in which one person, or a family, joins at the same time. */
const MOST_JOINS = 3;

export function browserCookie(secret: string, secure: boolean): BrowserCookie {
  const sign = (uuid: string) => createHmac('sha256', secret).update(`browser\n${uuid}`).digest();

  function isSigned(uuid: string, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    const expected = sign(uuid);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  function joinsOf(request: FastifyRequest): string[] {
    const value = parseCookie(request.headers.cookie ?? '')[NAME] ?? '';
    return value
      .split('~')
      .slice(0, MOST_JOINS)
      .flatMap((entry) => {
        const [uuid = '', signature = ''] = entry.split('.');
        return isSigned(uuid, signature) ? [uuid] : [];
      });
  }

  return {
    joinsOf,
    holds: (request, sessionUuid) => joinsOf(request).includes(sessionUuid),
    give(reply, sessionUuid) {
      const others = joinsOf(reply.request).filter((uuid) => uuid !== sessionUuid);
      const joins = [sessionUuid, ...others].slice(0, MOST_JOINS);
      const cookie = stringifySetCookie({
        name: NAME,
        value: joins.map((uuid) => `${uuid}.${sign(uuid).toString('base64url')}`).join('~'),
        path: '/api',
        httpOnly: true,
        sameSite: 'lax',
        secure,
        maxAge: DAY_SECONDS,
      });
      void reply.header('set-cookie', cookie);
    },
  };
}
