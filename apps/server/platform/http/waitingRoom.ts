import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import type { Log } from '../../deps.ts';
import type { Config } from '../config/config.ts';
import { comeBackPage, isForPrograms } from './comeBack.ts';
import { stopAccepting } from './drain.ts';
import { DATABASE_RETRY_SECONDS, NO_DATABASE, referenceOf } from './errors.ts';
import { HEALTHZ, type NotReady, READYZ } from './health.ts';
import { codeOf } from './refusal.ts';
import { headersOfCalls } from './securityHeaders.ts';

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
  const server = createServer(async (request, response) => {
    // Reads and discards the request's body before it answers. If the server closed the connection while the body arrives, the
    // connection would be reset, and a proxy may then drop the answer.
    request.resume();
    await finished(request).catch(() => {});
    if (!request.complete) return;
    const path = (request.url ?? '/').split('?')[0]!;
    const id = randomUUID();
    const send = (status: number, type: string, body: string) =>
      response
        .writeHead(status, {
          ...headersOfCalls(config),
          connection: 'close',
          'x-request-id': id,
          'content-type': `${type}; charset=utf-8`,
          ...(status === 503 ? { 'retry-after': String(DATABASE_RETRY_SECONDS) } : {}),
        })
        .end(body);
    if (path === HEALTHZ) return send(200, 'application/json', '{"ok":true}');
    const missing: NotReady[] = ['database'];
    if (path === READYZ) return send(503, 'application/json', JSON.stringify({ ready: false, missing }));
    log.warn({ reqId: id, method: request.method }, 'somebody came while the database is waited for');
    const reference = referenceOf(id);
    if (isForPrograms(path)) return send(503, 'application/json', JSON.stringify(failureOf(id, reference)));
    return send(
      503,
      'text/html',
      comeBackPage({ societyName, sentence: NO_DATABASE, reference, seconds: DATABASE_RETRY_SECONDS }),
    );
  });
  await listen(server, config);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    leave: () => stopAccepting(server),
  };
}

function listen(
  server: ReturnType<typeof createServer<typeof IncomingMessage, typeof ServerResponse>>,
  { host, port }: Config,
): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      done();
    });
  });
}

function failureOf(requestId: string, reference: string) {
  return { success: false, status: 'error', code: codeOf(503), message: NO_DATABASE, requestId, reference };
}
