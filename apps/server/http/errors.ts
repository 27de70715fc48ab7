import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { fallback } from '#core/sentences.ts';
import type { Log } from '../deps.ts';
import { LINE_NOT_FOUND, Refusal, SESSION_NOT_FOUND } from './refusal.ts';

/** What a path names: a contact, a line of an order, or a session. */
function unknownOf(instancePath: string): string {
  if (instancePath === '/id') return fallback.initJoin;
  return instancePath === '/sessionProductUuid' ? LINE_NOT_FOUND : SESSION_NOT_FOUND;
}

const MALFORMED = 'There was a problem with your request.';
const NOTHING_HERE = 'There is nothing at this address.';
const UNEXPECTED = 'Something went wrong on our side. Nothing was lost; please try again.';

/** The one place where a failure becomes an answer. Bodies of 5xx never carry internals. */
export function handleErrors(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler(nothingHere);
  app.setErrorHandler<FastifyError | Refusal>((error, request, reply) => {
    const send = (status: number, message: string, more: object = {}) =>
      reply.status(status).send({ success: false, status: 'error', message, ...more, requestId: request.id });

    if (error instanceof Refusal) {
      if (error.retryAfter !== undefined) void reply.header('retry-after', String(error.retryAfter));
      return send(error.status, error.message, {
        ...(error.errors ? { errors: error.errors } : {}),
        ...(error.goOn ? { goOn: error.goOn } : {}),
        ...(error.code ? { code: error.code } : {}),
      });
    }
    if (hasZodFastifySchemaValidationErrors(error)) {
      // A path that names nothing that could exist is unknown, like one that names nothing that does.
      if (error.validationContext === 'params')
        return send(404, unknownOf(error.validation[0]?.instancePath ?? ''));
      const errors: Record<string, string> = {};
      for (const issue of error.validation)
        errors[issue.instancePath.replace(/^\//, '') || 'body'] ??= issue.message ?? MALFORMED;
      return send(400, MALFORMED, { errors });
    }
    const status = 'statusCode' in error && error.statusCode ? error.statusCode : 500;
    // A file outside what is served.
    if (status === 403) return nothingHere(request, reply);
    if (status < 500)
      return send(
        status === 405 || status === 406 ? 400 : status,
        status === 413 ? 'This is too large.' : MALFORMED,
      );
    log.error({ reqId: request.id, err: error }, 'unexpected failure');
    return send(500, UNEXPECTED);
  });
}

/** An address that names nothing. Written by hand, since it must also answer before any schema is known. */
export function nothingHere(request: FastifyRequest, reply: FastifyReply): void {
  void reply
    .status(404)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ success: false, status: 'error', message: NOTHING_HERE, requestId: request.id }));
}
