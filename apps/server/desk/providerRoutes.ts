import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AccountRefusal, accountRefusals, CHALLENGE_MINUTES } from '#core/staff.ts';
import type { DeskProvider } from '../platform/config/desk.ts';
import { transaction } from '../platform/database/transaction.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { noteEvent } from './events.ts';
import { readLink } from './links.ts';
import { beginTurn, endTurn, RETURN_PATH, staffOfAccount } from './provider.ts';
import { limitSignIns, serveDesk } from './serve.ts';
import { beginSession, giveCookie } from './sessions.ts';
import { hashOf } from './tokens.ts';

const NO_PROVIDER = 'There is no identity provider here.';

/** Serves the calls for signing in with an account at the society's identity provider. */
export function providerRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const { database, config, deskUrl } = deps;
  const provider = config.desk?.provider ?? null;

  serveDesk(app, deps, 'enterByProvider', async ({ body: { token }, reply }) => {
    if (!provider) throw new Refusal(404, NO_PROVIDER);
    if (token !== undefined) await readLink(deps, token);
    const { url, state } = await beginTurn(
      database,
      provider,
      deskUrl,
      token === undefined ? null : hashOf(token),
    );
    setTurn(reply, deskUrl, state, CHALLENGE_MINUTES * 60);
    return { url };
  });

  if (provider) app.get(RETURN_PATH, (request, reply) => enter(deps, provider, request, reply));
}

/**
 * Signs in the browser that the provider has redirected here, and redirects it to the desk. If the sign-in fails, redirects it to
 * the sign-in page, which shows the reason.
 */
async function enter(
  deps: Deps & { deskUrl: string },
  provider: DeskProvider,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { deskUrl } = deps;
  setTurn(reply, deskUrl, '', 0);
  try {
    const state = parseCookie(request.headers.cookie ?? '')[nameOf(deskUrl)] || null;
    // Any site can redirect a browser here, but only a browser that began a sign-in has the cookie. Others are not counted.
    if (state !== null) await limitSignIns(deps, request.ip);
    const account = await endTurn(deps, provider, new URL(request.url, deskUrl), state);
    const { staff, token } = await transaction(deps, async (trx) => {
      const found = await staffOfAccount(trx, account);
      return { staff: found, token: await beginSession(trx, found) };
    });
    await noteEvent(deps, { staff, action: 'enterByProvider', outcome: 'done' });
    giveCookie(reply, deskUrl, token);
    return await reply.redirect('/', 303);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const keys = Object.keys(accountRefusals) as AccountRefusal[];
    const why = keys.find((key) => accountRefusals[key] === error.message) ?? 'failed';
    return reply.redirect(`/?refused=${why}`, 303);
  }
}

const nameOf = (deskUrl: string) => (deskUrl.startsWith('https:') ? '__Host-desk-turn' : 'desk-turn');

/**
 * Stores the state in a cookie, because the sign-in must end in the browser that began it. The redirect comes from another site,
 * so the cookie cannot be `SameSite=Strict`.
 */
function setTurn(reply: FastifyReply, deskUrl: string, state: string, maxAge: number): void {
  void reply.header(
    'set-cookie',
    stringifySetCookie({
      name: nameOf(deskUrl),
      value: state,
      httpOnly: true,
      secure: deskUrl.startsWith('https:'),
      sameSite: 'lax',
      path: '/',
      maxAge,
    }),
  );
}
