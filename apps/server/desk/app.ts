import type { FastifyInstance } from 'fastify';
import { handleErrors } from '../platform/http/errors.ts';
import { newServer } from '../platform/http/newServer.ts';
import { headersOfCalls } from '../platform/http/securityHeaders.ts';
import { timeLimits } from '../platform/http/timeLimits.ts';
import { correctRoutes } from './correctRoutes.ts';
import { decisionRoutes } from './decisionRoutes.ts';
import type { Deps } from './deps.ts';
import { fileRoutes } from './fileRoutes.ts';
import { hubspotRoutes } from './hubspotRoutes.ts';
import { importRoutes, NO_IMPORT } from './importRoutes.ts';
import { invitationRoutes } from './invitationRoutes.ts';
import { NO_JOIN } from './joinOf.ts';
import { letterRoutes } from './letterRoutes.ts';
import { NO_NOTE, noteRoutes } from './noteRoutes.ts';
import { numbersRoutes } from './numbersRoutes.ts';
import { servePages } from './pages.ts';
import { parcelRoutes } from './parcelRoutes.ts';
import { NO_LETTER, peopleRoutes } from './peopleRoutes.ts';
import { NOBODY } from './presentPersonOf.ts';
import { providerRoutes } from './providerRoutes.ts';
import { NO_PAYMENT, NO_REFUND, refundRoutes } from './refundRoutes.ts';
import { signInRoutes } from './signInRoutes.ts';
import { NO_STAFF } from './staff.ts';
import { staffRoutes } from './staffRoutes.ts';
import { NO_NOTICE, todayRoutes } from './todayRoutes.ts';
import { NO_DOCUMENT, transcriptRoutes } from './transcriptRoutes.ts';

/** The sentence of the 404 for a malformed id, by the third part of the path: `/api/desk/letters/…`. */
const unknownAt: Record<string, string> = {
  documents: NO_DOCUMENT,
  invitations: NO_IMPORT,
  letters: NO_LETTER,
  notices: NO_NOTICE,
  staff: NO_STAFF,
  transcripts: NO_JOIN,
  notes: NO_NOTE,
  payments: NO_PAYMENT,
  refunds: NO_REFUND,
};

/**
 * Builds the desk's HTTP server, not listening yet. It has its own port and its own origin, `deskUrl`. `deskBuild` is the folder
 * of its built pages; without it only the API calls are served.
 */
export function buildDesk(
  deps: Deps & { deskUrl: string; icon: Buffer },
  deskBuild?: string,
): FastifyInstance {
  const { config } = deps;
  const app = newServer(deps, timeLimits, { desk: true });
  app.removeContentTypeParser('text/plain');
  // The body of a `raw` call is passed on as a stream, without parsing.
  app.addContentTypeParser('text/csv', (_, payload, done) => done(null, payload));
  handleErrors(app, ({ url }) => unknownAt[url.split('/')[3] ?? ''] ?? NOBODY);
  app.decorateRequest('staff', null);
  const ofCalls = headersOfCalls(config);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({ 'x-request-id': request.id, ...ofCalls });
    done();
  });
  signInRoutes(app, deps);
  providerRoutes(app, deps);
  todayRoutes(app, deps);
  peopleRoutes(app, deps);
  transcriptRoutes(app, deps);
  decisionRoutes(app, deps);
  parcelRoutes(app, deps);
  invitationRoutes(app, deps);
  importRoutes(app, deps);
  staffRoutes(app, deps);
  numbersRoutes(app, deps);
  noteRoutes(app, deps);
  correctRoutes(app, deps);
  refundRoutes(app, deps);
  letterRoutes(app, deps);
  fileRoutes(app, deps);
  hubspotRoutes(app, deps);
  if (deskBuild !== undefined) servePages(app, deps, deskBuild);
  return app;
}
