import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { chargeUpgrade } from './chargeUpgrade.ts';
import { skipUpgrade } from './skipUpgrade.ts';
import { upgradeDetails } from './upgradeDetails.ts';

export function upgradeRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'getUpgradeDetails', async ({ params, request }) => ({
    data: await upgradeDetails(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'createUpgradeCharge', async ({ params, body, request }) => ({
    data: await chargeUpgrade(deps, params.uuid, {
      ...body,
      holding: deps.browser.holdingOf(request, params.uuid),
    }),
  }));
  serve(app, 'skipUpgrade', async ({ params, request }) => ({
    data: { goOn: await skipUpgrade(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)) },
  }));
}
