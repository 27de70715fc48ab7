import type { FastifyInstance } from 'fastify';
import { LINKS_SENT } from '#core/pass.ts';
import { serve } from '../../platform/http/routes.ts';
import type { Deps } from '../deps.ts';
import { codeBrowserOf, giveCodeCookie } from './codeCookie.ts';
import { openPass, whereItGoesOn } from './openPass.ts';
import { proveByCode, proveByName } from './provePass.ts';
import { sendCode } from './sendCode.ts';
import { requestLinks } from './sendLinks.ts';

export function passRoutes(app: FastifyInstance, deps: Deps): void {
  const secure = deps.config.publicUrl.startsWith('https:');

  serve(app, deps, 'openPass', async ({ body, request }) => ({
    data: await openPass(deps, {
      ...body,
      codeBrowser: codeBrowserOf(request),
      holdingOf: (uuid) => deps.browser.holdingOf(request, uuid),
    }),
  }));
  serve(app, deps, 'sendPassCode', async ({ body, reply }) => {
    await sendCode(deps, { ...body, codeBrowser: giveCodeCookie(reply, secure) });
    return { data: {} };
  });
  serve(app, deps, 'provePassByCode', async ({ body, request, reply }) => {
    const uuid = await proveByCode(deps, { ...body, codeBrowser: codeBrowserOf(request) });
    deps.browser.giveProven(reply, uuid);
    return { data: await whereItGoesOn(deps, uuid) };
  });
  serve(app, deps, 'provePassByName', async ({ body, reply }) => {
    const uuid = await proveByName(deps, body);
    deps.browser.giveProven(reply, uuid);
    return { data: await whereItGoesOn(deps, uuid) };
  });
  serve(app, deps, 'sendPassLinks', async ({ body, request }) => {
    await requestLinks(deps, { ...body, address: request.ip });
    return { data: {}, message: LINKS_SENT };
  });
}
