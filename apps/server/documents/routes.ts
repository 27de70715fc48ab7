import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { serve } from '../platform/http/routes.ts';
import { sessionDocuments } from './sessionDocuments.ts';
import { createUploadLink, getUploadLink, uploadByLink } from './uploadLinks.ts';
import { uploadResume } from './uploadResume.ts';
import { uploadTranscript } from './uploadTranscript.ts';

export async function documentRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  await app.register(multipart, {
    throwFileSizeLimit: false,
    limits: { fileSize: Number.POSITIVE_INFINITY },
  });
  serve(app, 'uploadTranscript', async ({ params, request }) => ({
    data: await uploadTranscript(deps, params.uuid, request, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'getDocuments', async ({ params, request }) => ({
    data: await sessionDocuments(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'createUploadLink', async ({ params, request }) => ({
    data: await createUploadLink(deps, params.uuid, deps.browser.holdingOf(request, params.uuid)),
  }));
  serve(app, 'getUploadLink', async ({ params }) => ({ data: await getUploadLink(deps, params.token) }));
  serve(app, 'uploadByLink', async ({ params, request }) => ({
    data: await uploadByLink(deps, params.token, request),
  }));
  serve(app, 'uploadResume', async ({ request }) => ({ data: await uploadResume(deps, request) }));
}
