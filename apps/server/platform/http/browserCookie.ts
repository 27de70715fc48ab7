import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HeldJoin, type Holding, isSure } from '#core/holding.ts';
import type { Secrets } from '../config/secrets.ts';

/**
 * Writes and reads an HttpOnly cookie that shows which joins a browser holds: knowing a session's uuid is not enough. The
 * cookie's value has the uuids of the last joins that the browser holds. Joins that the browser only began do not push out joins
 * that it holds in another way. Each uuid comes with one HMAC for each way in which the browser holds the join (its user began
 * it, paid for it, or proved to be the joiner), so no table is needed. The database decides whether a way still counts
 * (session/holding.ts).
 */
export interface BrowserCookie {
  /** Gives the cookie to a browser that began the join. */
  giveBegan(reply: FastifyReply, sessionUuid: string): void;
  /** Gives the cookie to a browser whose user has proven that they are the joiner. */
  giveProven(reply: FastifyReply, sessionUuid: string): void;
  /** Gives the cookie to a browser that has returned from paying. */
  givePaid(reply: FastifyReply, sessionUuid: string): void;
  holdingOf(request: FastifyRequest, sessionUuid: string): Holding;
  /**
   * Returns the joins in the cookie: first those that the browser paid for or whose joiner its user proved to be, then those that
   * it only began, each the newest first.
   */
  joinsOf(request: FastifyRequest): HeldJoin[];
}

const NAME = 'induct_join';
/** The cookie lasts as long as a pass. */
const MAX_AGE_SECONDS = 30 * 86_400;
/**
 * The maximum number of joins in one cookie: of joins that the browser only began (in different tabs), and of joins that it paid
 * for or whose joiner its user proved to be. Together they fill three quarters of a cookie's maximum size (4 KB).
 */
const MOST_BEGUN = 16;
const MOST_SURE = 10;

/** For each way of holding a join, the word that is signed together with the join's uuid. */
const WORDS = { began: 'browser', proven: 'proven', paid: 'paid' } as const satisfies Record<
  keyof Holding,
  string
>;
const WAYS = Object.keys(WORDS) as (keyof Holding)[];

export function browserCookie(secrets: Secrets, secure: boolean): BrowserCookie {
  const keys = secrets.map((secret) => createSecretKey(secret, 'utf8'));
  const sign = (uuid: string, way: keyof Holding, key = keys[0]!) =>
    createHmac('sha256', key).update(`${WORDS[way]}\n${uuid}`).digest();

  function isSigned(uuid: string, way: keyof Holding, given: Buffer): boolean {
    return keys.some((key) => {
      const expected = sign(uuid, way, key);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  /** Returns the joins in the cookie; with a uuid, that join alone, since each signature costs an HMAC. */
  function heldJoins(request: FastifyRequest, only?: string): HeldJoin[] {
    const value = parseCookie(request.headers.cookie ?? '')[NAME] ?? '';
    return value
      .split('~')
      .slice(0, MOST_BEGUN + MOST_SURE)
      .filter((entry) => only === undefined || entry.startsWith(`${only}.`))
      .map((entry) => entry.split('.').slice(0, 1 + WAYS.length))
      .flatMap(([uuid = '', ...signatures]) => {
        const holding = { ...NOT_AT_ALL };
        for (const signature of signatures) {
          const given = Buffer.from(signature, 'base64url');
          const way = WAYS.find((each) => !holding[each] && isSigned(uuid, each, given));
          if (way) holding[way] = true;
        }
        return WAYS.some((way) => holding[way]) ? [{ uuid, ...holding }] : [];
      });
  }

  const joinsOf = (request: FastifyRequest) => heldJoins(request);

  function holdingOf(request: FastifyRequest, sessionUuid: string): Holding {
    const { began, proven, paid } = heldJoins(request, sessionUuid)[0] ?? NOT_AT_ALL;
    return { began, proven, paid };
  }

  function give(reply: FastifyReply, sessionUuid: string, way: keyof Holding): void {
    const others = joinsOf(reply.request).filter(({ uuid }) => uuid !== sessionUuid);
    const given = { uuid: sessionUuid, ...holdingOf(reply.request, sessionUuid), [way]: true };
    const joins = [given, ...others];
    const kept = [
      ...joins.filter(isSure).slice(0, MOST_SURE),
      ...joins.filter((join) => !isSure(join)).slice(0, MOST_BEGUN),
    ];
    const entries = kept.map((join) => {
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
