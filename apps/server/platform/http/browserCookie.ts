import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeldJoin, Holding } from '#core/holding.ts';
import type { Secrets } from '../config/secrets.ts';

/**
 * An HttpOnly cookie by which a browser shows that it holds a join; a browser that only learned the session's uuid lacks it. It
 * carries the uuids of the joins that this browser last began, paid or proved, each with an HMAC for each way of holding it, so
 * that no table is needed. The database decides whether a join can still be held in that way: session/holding.ts.
 */
export interface BrowserCookie {
  /** Gives the cookie to a browser that began the join. */
  giveBegan(reply: FastifyReply, sessionUuid: string): void;
  /** Gives the cookie to a browser whose user has proved to be the joiner. */
  giveProven(reply: FastifyReply, sessionUuid: string): void;
  /** Gives the cookie to a browser that came back from paying. */
  givePaid(reply: FastifyReply, sessionUuid: string): void;
  holdingOf(request: FastifyRequest, sessionUuid: string): Holding;
  /** Returns the joins in the cookie, newest first. */
  joinsOf(request: FastifyRequest): HeldJoin[];
}

const NAME = 'induct_join';
/** How long the cookie lasts: as long as a pass is valid. */
const MAX_AGE_SECONDS = 30 * 86_400;
/** The most joins in one cookie: one person or a family may join in several tabs at the same time. */
const MOST_JOINS = 3;

/**
 * The word that is signed for each way of holding a join. Up to version 0.6 a cookie had one signature, and `browser` also stood
 * for having paid.
 */
const WORDS = { began: 'browser', proven: 'proven', paid: 'paid' } as const satisfies Record<
  keyof Holding,
  string
>;
const WAYS = Object.keys(WORDS) as (keyof Holding)[];

export function browserCookie(secrets: Secrets, secure: boolean): BrowserCookie {
  const sign = (uuid: string, way: keyof Holding, secret: string = secrets[0]) =>
    createHmac('sha256', secret).update(`${WORDS[way]}\n${uuid}`).digest();

  function isSigned(uuid: string, way: keyof Holding, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    return secrets.some((secret) => {
      const expected = sign(uuid, way, secret);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  function joinsOf(request: FastifyRequest): HeldJoin[] {
    const value = parseCookie(request.headers.cookie ?? '')[NAME] ?? '';
    return value
      .split('~')
      .slice(0, MOST_JOINS)
      .flatMap((entry) => {
        const [uuid = '', ...signatures] = entry.split('.').slice(0, 1 + WAYS.length);
        const isHeld = (way: keyof Holding) => signatures.some((each) => isSigned(uuid, way, each));
        const holding = { began: isHeld('began'), proven: isHeld('proven'), paid: isHeld('paid') };
        return WAYS.some((way) => holding[way]) ? [{ uuid, ...holding }] : [];
      });
  }

  function holdingOf(request: FastifyRequest, sessionUuid: string): Holding {
    const { began, proven, paid } = joinsOf(request).find(({ uuid }) => uuid === sessionUuid) ?? NOT_AT_ALL;
    return { began, proven, paid };
  }

  function give(reply: FastifyReply, sessionUuid: string, way: keyof Holding): void {
    const others = joinsOf(reply.request).filter(({ uuid }) => uuid !== sessionUuid);
    const given = { uuid: sessionUuid, ...holdingOf(reply.request, sessionUuid), [way]: true };
    const entries = [given, ...others].slice(0, MOST_JOINS).map((join) => {
      const signatures = WAYS.filter((each) => join[each]).map((each) =>
        sign(join.uuid, each).toString('base64url'),
      );
      return [join.uuid, ...signatures].join('.');
    });
    const cookie = stringifySetCookie({
      name: NAME,
      value: entries.join('~'),
      path: '/api',
      httpOnly: true,
      sameSite: 'lax',
      secure,
      maxAge: MAX_AGE_SECONDS,
    });
    void reply.header('set-cookie', cookie);
  }

  return {
    joinsOf,
    holdingOf,
    giveBegan: (reply, sessionUuid) => give(reply, sessionUuid, 'began'),
    giveProven: (reply, sessionUuid) => give(reply, sessionUuid, 'proven'),
    givePaid: (reply, sessionUuid) => give(reply, sessionUuid, 'paid'),
  };
}

const NOT_AT_ALL: Holding = { began: false, proven: false, paid: false };
