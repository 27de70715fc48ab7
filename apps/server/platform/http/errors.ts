import { maxHeaderSize } from 'node:http';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { fallback } from '#core/sentences.ts';
import { DatabaseUnavailable } from '../database/unavailable.ts';
import { codeOf, LINE_NOT_FOUND, Refusal, SESSION_NOT_FOUND } from './refusal.ts';

/** Returns the sentence of the 404 that answers a malformed id in a path: the id of a contact, an order line or a session; or a day. */
function unknownOf(instancePath: string): string {
  if (instancePath === '/day') return NOTHING_HERE;
  if (instancePath === '/id') return fallback.initJoin;
  return instancePath === '/sessionProductUuid' ? LINE_NOT_FOUND : SESSION_NOT_FOUND;
}

const MALFORMED = 'There was a problem with your request.';
const NOTHING_HERE = 'There is nothing at this address.';
/** The Retry-After header (s) of answers while the database is unavailable. */
export const DATABASE_RETRY_SECONDS = 5;
export const NO_DATABASE = 'We cannot reach our records right now. Please wait a moment and try again.';
const UNEXPECTED = 'Something went wrong on our side. Nothing was lost; please try again.';

/**
 * Answers unknown paths, and every error that a route or hook throws. The body of a 5xx answer contains no internals. `unknown`
 * returns the sentence of the 404 for a malformed id in a path.
 */
export function handleErrors(
  app: FastifyInstance,
  unknown: (request: FastifyRequest, instancePath: string) => string = (_, path) => unknownOf(path),
): void {
  app.setNotFoundHandler(nothingHere);
  app.setErrorHandler<FastifyError | Refusal>((error, request, reply) => {
    const send = (status: number, message: string, more: object = {}) =>
      reply.status(status).send({
        success: false,
        status: 'error',
        code: codeOf(status),
        message,
        ...more,
        requestId: request.id,
        ...(status >= 500 ? { reference: referenceOf(request.id) } : {}),
      });

    if (error instanceof Refusal) {
      if (error.status >= 500)
        request.log.warn({ status: error.status, said: error.sentence }, 'refused for a fault of ours');
      if (error.retryAfter !== undefined) void reply.header('retry-after', String(error.retryAfter));
      return send(error.status, error.sentence, {
        ...(error.errors ? { errors: error.errors } : {}),
        ...(error.goOn ? { goOn: error.goOn } : {}),
        code: error.code,
        ...error.beside,
      });
    }
    if (error instanceof DatabaseUnavailable) {
      request.log.error({ reason: error.message }, 'the database did not answer a call');
      void reply.header('retry-after', String(DATABASE_RETRY_SECONDS));
      return send(503, NO_DATABASE);
    }
    if (hasZodFastifySchemaValidationErrors(error)) {
      // A malformed id in a path gets the same answer as an unknown id.
      if (error.validationContext === 'params')
        return send(404, unknown(request, error.validation[0]?.instancePath ?? ''));
      const errors: Record<string, string> = {};
      for (const issue of error.validation)
        errors[issue.instancePath.replace(/^\//, '') || 'body'] ??= issue.message ?? MALFORMED;
      return send(400, MALFORMED, { errors });
    }
    const status = 'statusCode' in error && error.statusCode ? error.statusCode : 500;
    // @fastify/static answers 403 for a path that leaves the folder of static files. Callers get the same answer as for an
    // unknown path.
    if (status === 403) return nothingHere(request, reply);
    if (status < 500)
      return send(
        status === 405 || status === 406 ? 400 : status,
        status === 413 ? 'This is too large.' : MALFORMED,
      );
    request.log.error({ err: error }, 'unexpected failure');
    return send(500, UNEXPECTED);
  });
}

/** Returns the reference of a request: the beginning of its id (`reqId` in the log), short enough to be read out on the phone. */
export function referenceOf(requestId: string): string {
  return requestId.slice(0, 8);
}

/**
 * Lets paths with broken percent-encoding (a link that a mail client cut) and with parameters of any length reach our handlers. The
 * router itself would answer such requests, without our page and headers.
 */
export const addressOptions = {
  rewriteUrl: ({ url = '/' }) => (!url.includes('%') || isEncoded(url) ? url : url.replaceAll('%', '%25')),
  routerOptions: { maxParamLength: maxHeaderSize },
} satisfies FastifyServerOptions;

function isEncoded(url: string): boolean {
  try {
    decodeURI(url.split('?')[0]!);
    return true;
  } catch {
    return false;
  }
}

/** Answers 404 for an unknown path. */
export function nothingHere(request: FastifyRequest, reply: FastifyReply): void {
  void reply
    .status(404)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(
      JSON.stringify({
        success: false,
        status: 'error',
        code: codeOf(404),
        message: NOTHING_HERE,
        requestId: request.id,
      }),
    );
}
