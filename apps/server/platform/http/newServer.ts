import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { ZodType } from 'zod';
import type { Deps } from '../deps.ts';
import { answerWriter } from './answers.ts';
import { drainOnClose } from './drain.ts';
import { addressOptions } from './errors.ts';
import { logAnswer, withRequestId } from './logging.ts';
import { FINISH_MS } from './stopping.ts';
import { limitBodies, limitRest, serverTimes, type TimeLimits } from './timeLimits.ts';

/** The largest body (bytes) of a call with JSON. Uploads are streamed, and have another limit. */
const BODY_LIMIT = 65_536;

/**
 * Returns an HTTP server without routes, for the joiners' pages or for the desk. It is not listening yet. The log lines about its
 * answers contain the fields of `logged`.
 */
export function newServer(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  times: TimeLimits,
  logged: object = {},
): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    // `withRequestId` adds the request's id to log lines, so that no request needs its own logger.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustProxy,
    bodyLimit: BODY_LIMIT,
    genReqId: () => randomUUID(),
    ...addressOptions,
    // While the server closes, Fastify would answer requests on open connections with 503. Here they are answered normally until
    // `drainOnClose` closes the connections.
    return503OnClosing: false,
    ...serverTimes(times),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(({ schema }) => answerWriter(schema as unknown as ZodType));
  drainOnClose(app, FINISH_MS);
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => {
      // If the answer was not written completely, the caller has disconnected: nothing to log.
      if (!reply.raw.writableFinished) return;
      logAnswer(reply, logged);
      limitRest(request.raw, times);
    });
    withRequestId(request.id, done);
  });
  limitBodies(app, times);
  return app;
}
