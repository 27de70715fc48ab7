import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { FastifyInstance } from 'fastify';
import { transaction } from '../platform/database/transaction.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { readLink, takeLink } from './links.ts';
import { SIGNED_OUT, serveDesk } from './serve.ts';
import { beginSession, endSession, giveCookie, takeCookie, tokenOf } from './sessions.ts';

/**
 * Serves the calls for signing in and out. In live mode nobody gets a session without a passkey or an account at the identity
 * provider.
 */
export function signInRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const { database, config, society, deskUrl } = deps;
  const site = { deskUrl, societyName: society.society.name };
  // Imported at the first sign-in, because this module loads large parsers of certificates.
  const passkeys = () => import('./passkeys.ts');

  serveDesk(app, deps, 'enter', async ({ body, request, reply }) => {
    if (config.mode === 'live') {
      const staff = await readLink(deps, body.token);
      const { registrationOptions } = await passkeys();
      return { options: { ...(await registrationOptions(database, site, staff)) } };
    }
    const token = await transaction(deps, async (trx) => {
      request.staff = await takeLink(trx, body.token);
      return beginSession(trx, request.staff);
    });
    giveCookie(reply, deskUrl, token);
    return { options: null };
  });

  serveDesk(app, deps, 'getPasskeyOptions', async ({ staff, body }) => {
    const { authenticationOptions, registrationOptions } = await passkeys();
    if (!body.isNew) return { options: { ...(await authenticationOptions(database, site)) } };
    if (!staff) throw new Refusal(401, SIGNED_OUT);
    return { options: { ...(await registrationOptions(database, site, staff)) } };
  });

  serveDesk(app, deps, 'signInByPasskey', async ({ body, request, reply }) => {
    const { staffOfPasskey } = await passkeys();
    const token = await transaction(deps, async (trx) => {
      request.staff = await staffOfPasskey(
        trx,
        site,
        body.credential as unknown as AuthenticationResponseJSON,
      );
      return beginSession(trx, request.staff);
    });
    giveCookie(reply, deskUrl, token);
    return {};
  });

  serveDesk(app, deps, 'addPasskey', async ({ staff, body, request, reply }) => {
    const { storePasskey } = await passkeys();
    const credential = body.credential as unknown as RegistrationResponseJSON;
    if (body.token === undefined) {
      if (!staff) throw new Refusal(401, SIGNED_OUT);
      await transaction(deps, (trx) => storePasskey(trx, site, staff, credential));
      return {};
    }
    const link = body.token;
    const token = await transaction(deps, async (trx) => {
      request.staff = await takeLink(trx, link);
      await storePasskey(trx, site, request.staff, credential);
      return beginSession(trx, request.staff);
    });
    giveCookie(reply, deskUrl, token);
    return {};
  });

  serveDesk(app, deps, 'signOut', async ({ body, request, reply }) => {
    await endSession(database, tokenOf(request, deskUrl)!, body.everywhere);
    takeCookie(reply, deskUrl);
    return {};
  });

  serveDesk(app, deps, 'getMe', ({ staff }) => ({
    name: staff.name,
    role: staff.role,
    mode: config.mode,
    society: society.society.name,
    timeZone: society.society.timeZone,
  }));
}
