import cors from '@fastify/cors';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { Deps } from './deps.ts';
import { documentRoutes } from './documents/routes.ts';
import { passRoutes } from './joining/pass/routes.ts';
import { joiningRoutes } from './joining/routes.ts';
import { letterRoutes } from './letters/routes.ts';
import { membershipRoutes } from './membership/routes.ts';
import { payingRoutes } from './paying/routes.ts';
import { peopleRoutes } from './people/routes.ts';
import { handleErrors } from './platform/http/errors.ts';
import { serveHealth } from './platform/http/health.ts';
import { newServer } from './platform/http/newServer.ts';
import { observeRequests } from './platform/http/observe.ts';
import { servePage, writePage } from './platform/http/page.ts';
import { otherPageFile } from './platform/http/pageFiles.ts';
import { serve } from './platform/http/routes.ts';
import { headersOfCalls, otherHeadersOfPages, securePages } from './platform/http/securityHeaders.ts';
import { type Measured, shedLoad } from './platform/http/shedding.ts';
import { Stopping } from './platform/http/stopping.ts';
import { type TimeLimits, timeLimits } from './platform/http/timeLimits.ts';
import { serveArrival } from './running/doctor/arrival.ts';
import { reportRoutes } from './running/reports.ts';
import { pictureOrigins, toSite } from './society/wire.ts';

/** The path of the pages that document the API. */
const DOCS = '/api/docs';

/**
 * Builds the HTTP server with all routes, not listening yet. `webBuild` is the folder of the built web app; without it only the
 * API is served.
 */
export async function buildApp(
  deps: Deps,
  {
    webBuild,
    stopping = new Stopping(),
    times = timeLimits,
    measured,
  }: { webBuild?: string; stopping?: Stopping; times?: TimeLimits; measured?: () => Measured } = {},
): Promise<FastifyInstance> {
  const { config, society } = deps;
  const app = newServer(deps, times);
  observeRequests(app);
  handleErrors(app);
  acceptEmptyJson(app);

  const { browserUrl } = config.providers.stripe;
  const site = toSite(society, {
    payments: {
      publishableKey: config.providers.stripe.publishableKey,
      scriptUrl: browserUrl === null ? null : `${browserUrl}/stripe.js`,
    },
    uploadMaxBytes: config.uploadMaxBytes,
    sendsLetters: config.mail !== null,
    apiUrl: config.apiUrl,
  });
  const page = webBuild === undefined ? null : await writePage(webBuild, site, deps.icon);
  if (config.apiUrl)
    await app.register(cors, {
      origin: config.publicUrl,
      credentials: true,
      exposedHeaders: ['retry-after'],
    });
  await app.register(swagger, {
    openapi: {
      info: { title: 'Induct', description: 'The public join flow of an honor society.', version: '1.0.0' },
    },
    transform: jsonSchemaTransform,
  });

  const securePage = securePages(config, page, pictureOrigins(society));
  const [ofCalls, otherOfPages] = [headersOfCalls(config), otherHeadersOfPages(config)];
  app.addHook('onRequest', (request, reply, done) => {
    const isCall = request.url.startsWith('/api/') && !request.url.startsWith(DOCS);
    void reply.headers({ 'x-request-id': request.id, ...(isCall ? ofCalls : otherOfPages) });
    if (isCall) done();
    else securePage(request.raw, reply.raw, (error) => done(error as Error | undefined));
  });
  const pressure = await shedLoad(app, config, site.society.name, measured);
  app.get('/api/health', { schema: { hide: true } }, () => ({ ok: true }));
  serveArrival(app, deps);
  serveHealth(app, deps, stopping, pressure);
  if (config.apiDocs) {
    await app.register(swaggerUi, { routePrefix: DOCS, staticCSP: true });
    app.get('/api/openapi.json', { schema: { hide: true } }, () => app.swagger());
  }
  const mailbox = config.mail?.mailbox;
  if (mailbox) app.get('/emulated/mail', { schema: { hide: true } }, (_, reply) => reply.redirect(mailbox));
  serve(app, deps, 'getSite', () => ({ data: site }));
  joiningRoutes(app, deps);
  payingRoutes(app, deps);
  peopleRoutes(app, deps);
  passRoutes(app, deps);
  letterRoutes(app, deps);
  membershipRoutes(app, deps);
  await app.register(documentRoutes, { deps });
  await app.register(reportRoutes, { deps });
  if (page) await servePage(app, webBuild!, page, (path) => otherPageFile(deps.database, path));
  return app;
}

/** Accepts an empty body with the content type JSON, which browsers send in calls without a body. */
function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, body as string, done);
  });
}
