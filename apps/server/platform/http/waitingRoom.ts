import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { finished } from 'node:stream';
import Fastify, { LogController } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Log } from '../deps.ts';
import { comeBackPage, isForPrograms } from './comeBack.ts';
import { stopAccepting } from './drain.ts';
import { addressOptions, DATABASE_RETRY_SECONDS, handleErrors, NO_DATABASE, referenceOf } from './errors.ts';
import { HEALTHZ, type NotReady, READYZ } from './health.ts';
import { Refusal } from './refusal.ts';
import { headersOfCalls } from './securityHeaders.ts';
import { serverTimes, timeLimits } from './timeLimits.ts';

export interface WaitingRoom {
  port: number;
  /** Closes the port. Calls that are running are still answered. */
  leave(): Promise<void>;
}

/**
 * Opens the server's port while there is no database. API calls get 503 as JSON, pages get 503 as a page that reloads itself,
 * /healthz gets 200, /readyz gets 503.
 */
export async function openWaitingRoom(config: Config, log: Log, societyName: string): Promise<WaitingRoom> {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    ...addressOptions,
    ...serverTimes(timeLimits),
  });
  handleErrors(app);
  // Reads and discards the request's body before it answers. If the server closed the connection while the body arrives, the
  // connection would be reset, and a proxy may then drop the answer.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    (_, body, done) => void finished(body.resume(), (error) => done(error ?? null)),
  );
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers({ ...headersOfCalls(config), connection: 'close', 'x-request-id': request.id });
    done();
  });
  app.get(HEALTHZ, () => ({ ok: true }));
  app.get(READYZ, (_, reply) => {
    const missing: NotReady[] = ['database'];
    return reply.status(503).header('retry-after', DATABASE_RETRY_SECONDS).send({ ready: false, missing });
  });
  app.all('/*', ({ id, url, log }, reply) => {
    if (isForPrograms(url)) throw new Refusal(503, NO_DATABASE, { retryAfter: DATABASE_RETRY_SECONDS });
    log.warn('a request arrived while waiting for the database');
    const [reference, seconds] = [referenceOf(id), DATABASE_RETRY_SECONDS];
    return reply
      .status(503)
      .header('retry-after', seconds)
      .type('text/html; charset=utf-8')
      .send(comeBackPage({ societyName, sentence: NO_DATABASE, reference, seconds }));
  });
  await app.listen({ host: config.host, port: config.port });
  const { port } = app.server.address() as AddressInfo;
  return { port, leave: () => stopAccepting(app.server) };
}
