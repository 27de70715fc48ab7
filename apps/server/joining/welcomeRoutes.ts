import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { readWelcome } from './readWelcome.ts';

export function welcomeRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'getWelcome', async ({ params, request }) => ({
    data: await readWelcome(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
}
