import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Secrets } from '../config/secrets.ts';

/** How a browser came to hold a join: it began or paid it, or its user has proven to be the joiner. */
type Holding = 'browser' | 'proven';

/**
 * An HttpOnly cookie that tells the browser which holds a join from others that learned its session uuid. It carries
 * the uuids of the joins that were last started, paid or opened there, each with an HMAC, so no table is needed.
 */
export interface BrowserCookie {
  /** For a browser that began or paid a join. */
  give(reply: FastifyReply, sessionUuid: string): void;
  /** For one whose user has proven to be the joiner. */
  giveProven(reply: FastifyReply, sessionUuid: string): void;
  holds(request: FastifyRequest, sessionUuid: string): boolean;
  /** Whether the browser began or paid a join: a card that was saved in another one is not charged from here. */
  beganOrPaid(request: FastifyRequest, sessionUuid: string): boolean;
  /** The joins that the browser holds, the newest first. */
  joinsOf(request: FastifyRequest): string[];
}

const NAME = 'induct_join';
/** As long as a letter's link opens the join on any device. */
const MAX_AGE_SECONDS = 30 * 86_400;
/** Tabs in which one person, or a family, joins at the same time. */
const MOST_JOINS = 3;

export function browserCookie(secrets: Secrets, secure: boolean): BrowserCookie {
  const sign = (uuid: string, holding: Holding, secret: string = secrets[0]) =>
    createHmac('sha256', secret).update(`${holding}\n${uuid}`).digest();

  function isSigned(uuid: string, holding: Holding, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    return secrets.some((secret) => {
      const expected = sign(uuid, holding, secret);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  function entriesOf(request: FastifyRequest): { uuid: string; holding: Holding }[] {
    const value = parseCookie(request.headers.cookie ?? '')[NAME] ?? '';
    return value
      .split('~')
      .slice(0, MOST_JOINS)
      .flatMap((entry) => {
        const [uuid = '', signature = ''] = entry.split('.');
        const holding = (['browser', 'proven'] as const).find((each) => isSigned(uuid, each, signature));
        return holding ? [{ uuid, holding }] : [];
      });
  }

  const joinsOf = (request: FastifyRequest) => entriesOf(request).map(({ uuid }) => uuid);
  const beganOrPaid = (request: FastifyRequest, sessionUuid: string) =>
    entriesOf(request).some(({ uuid, holding }) => uuid === sessionUuid && holding === 'browser');

  function add(reply: FastifyReply, sessionUuid: string, holding: Holding): void {
    const others = entriesOf(reply.request).filter(({ uuid }) => uuid !== sessionUuid);
    const entries = [{ uuid: sessionUuid, holding }, ...others].slice(0, MOST_JOINS);
    const cookie = stringifySetCookie({
      name: NAME,
      value: entries
        .map((each) => `${each.uuid}.${sign(each.uuid, each.holding).toString('base64url')}`)
        .join('~'),
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
    beganOrPaid,
    holds: (request, sessionUuid) => joinsOf(request).includes(sessionUuid),
    give: (reply, sessionUuid) => add(reply, sessionUuid, 'browser'),
    giveProven: (reply, sessionUuid) =>
      add(reply, sessionUuid, beganOrPaid(reply.request, sessionUuid) ? 'browser' : 'proven'),
  };
}
