import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { correctOwnEmail } from './correctOwnEmail.ts';

export function peopleRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, 'correctEmail', async ({ params: { uuid }, body, request }) => {
    const holding = deps.browser.holdingOf(request, uuid);
    return { data: await correctOwnEmail(deps, uuid, { email: body.email, holding }) };
  });
}
