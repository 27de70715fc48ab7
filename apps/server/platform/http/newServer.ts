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

/** The largest body (bytes) of a call with JSON. Uploads are streamed and have a limit of their own. */
const BODY_LIMIT = 65_536;

/**
 * Returns an HTTP server without routes, not listening yet: the joiners' or the desk's. The lines that log its answers have the fields
 * of `logged`.
 */
export function newServer(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  times: TimeLimits,
  logged: object = {},
): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    // Lines have the request's id by `withRequestId`, so that no request needs a logger of its own.
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
