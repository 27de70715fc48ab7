import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { membershipDetails } from './membershipDetails.ts';
import { setMembership } from './setMembership.ts';

export function membershipRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'getMembershipDetails', async ({ params, request }) => ({
    data: await membershipDetails(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'setMembership', async ({ params, body, request }) => {
    await setMembership(deps, params.uuid, deps.browser.holdingOf(request, params.uuid), body);
    return { data: { status: 'success' as const } };
  });
}
