import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { checkEligibility } from './checkEligibility.ts';

export function eligibilityRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'checkEligibility', async ({ body, request }) => ({
    data: await checkEligibility(deps, { invitationCode: body.invitationCode, address: request.ip }),
  }));
}
