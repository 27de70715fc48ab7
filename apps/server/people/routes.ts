import type { FastifyInstance } from 'fastify';
import { serve } from '../platform/http/routes.ts';
import { correctOwnEmail } from './correctOwnEmail.ts';
import type { Deps } from './deps.ts';

export function peopleRoutes(app: FastifyInstance, deps: Deps): void {
  serve(app, deps, 'correctEmail', async ({ params, body, holding }) => ({
    data: await correctOwnEmail(deps, params.uuid, { email: body.email, holding }),
  }));
}
