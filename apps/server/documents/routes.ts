import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { PROOF_CALENDAR } from '#contract/calls.ts';
import { isDay } from '#core/day.ts';
import { serve } from '../platform/http/routes.ts';
import type { Deps } from './deps.ts';
import { proofCalendar } from './proofCalendar.ts';
import { sessionDocuments } from './sessionDocuments.ts';
import { createUploadLink, getUploadLink, uploadByLink } from './uploadLinks.ts';
import { uploadResume } from './uploadResume.ts';
import { uploadTranscript } from './uploadTranscript.ts';

export async function documentRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  await app.register(multipart, {
    throwFileSizeLimit: false,
    limits: { fileSize: Number.POSITIVE_INFINITY },
  });
  serve(app, deps, 'uploadTranscript', async ({ params, holding, request }) => ({
    data: await uploadTranscript(deps, params.uuid, request, holding),
  }));
  serve(app, deps, 'getDocuments', async ({ params, holding }) => ({
    data: await sessionDocuments(deps, params.uuid, holding),
  }));
  serve(app, deps, 'createUploadLink', async ({ params, holding }) => ({
    data: await createUploadLink(deps, params.uuid, holding),
  }));
  serve(app, deps, 'getUploadLink', async ({ params }) => ({
    data: await getUploadLink(deps, params.token),
  }));
  serve(app, deps, 'uploadByLink', async ({ params, request }) => ({
    data: await uploadByLink(deps, params.token, request),
  }));
  serve(app, deps, 'uploadResume', async ({ request }) => ({ data: await uploadResume(deps, request) }));
  const params = z.object({ day: z.string().refine(isDay) });
  app.get(
    PROOF_CALENDAR.replace('{day}', ':day'),
    { schema: { operationId: 'proofCalendar', params } },
    async (request: FastifyRequest<{ Params: z.output<typeof params> }>, reply) =>
      reply
        .type('text/calendar; charset=utf-8')
        .header('content-disposition', 'attachment; filename="proof-is-due.ics"')
        .send(proofCalendar(deps, request.params.day)),
  );
}
