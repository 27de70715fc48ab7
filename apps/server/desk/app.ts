import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { ZodType } from 'zod';
import { answerWriter } from '../platform/http/answers.ts';
import { drainOnClose } from '../platform/http/drain.ts';
import { addressOptions, handleErrors } from '../platform/http/errors.ts';
import { logRequestIds } from '../platform/http/logging.ts';
import { routeOf } from '../platform/http/observe.ts';
import { headersOfCalls } from '../platform/http/securityHeaders.ts';
import { FINISH_MS } from '../platform/http/stopping.ts';
import { limitBodies, serverTimes, timeLimits } from '../platform/http/timeLimits.ts';
import type { Deps } from './deps.ts';
import { servePages } from './pages.ts';
import { NO_LETTER, NOBODY, peopleRoutes } from './peopleRoutes.ts';
import { signInRoutes } from './signInRoutes.ts';

/** The largest body (bytes) of a call with JSON. */
const BODY_LIMIT = 65_536;

/**
 * Builds the desk's HTTP server, not listening yet. It has its own port and origin, which `deskUrl` is. `deskBuild` is the folder of
 * its built pages; without it only the calls are served.
 */
export function buildDesk(
  deps: Deps & { deskUrl: string; icon: Buffer },
  deskBuild?: string,
): FastifyInstance {
  const { config } = deps;
  const app = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    bodyLimit: BODY_LIMIT,
    genReqId: () => randomUUID(),
    ...addressOptions,
    return503OnClosing: false,
    ...serverTimes(timeLimits),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(({ schema }) => answerWriter(schema as unknown as ZodType));
  app.removeContentTypeParser('text/plain');
  drainOnClose(app, FINISH_MS);
  logRequestIds(app);
  handleErrors(app, ({ url }) => (url.startsWith('/api/desk/letters/') ? NO_LETTER : NOBODY));
  limitBodies(app, timeLimits);
  app.decorateRequest('staff', null);
  const ofCalls = headersOfCalls(config);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({ 'x-request-id': request.id, ...ofCalls });
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const ms = Math.round(reply.elapsedTime);
    request.log.info(
      { desk: true, method, route: routeOf(request), status: reply.statusCode, ms },
      'answered',
    );
    done();
  });
  signInRoutes(app, deps);
  peopleRoutes(app, deps);
  if (deskBuild !== undefined) servePages(app, deps, deskBuild);
  return app;
}
