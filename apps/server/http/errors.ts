import type { FastifyError, FastifyInstance } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { Refusal, SESSION_NOT_FOUND } from './refusal.ts';

const MALFORMED = 'There was a problem with your request.';
const UNEXPECTED = 'Something went wrong on our side. Nothing was lost; please try again.';

/** The one place where a failure becomes an answer. Bodies of 5xx never carry internals. */
export function handleErrors(app: FastifyInstance): void {
  app.setNotFoundHandler((request, reply) => {
    void reply.status(404).send({
      success: false,
      status: 'error',
      message: 'There is nothing at this address.',
      requestId: request.id,
    });
  });
  app.setErrorHandler<FastifyError | Refusal>((error, request, reply) => {
    const send = (status: number, message: string, more: object = {}) =>
      reply.status(status).send({ success: false, status: 'error', message, ...more, requestId: request.id });

    if (error instanceof Refusal) {
      if (error.retryAfter !== undefined) void reply.header('retry-after', String(error.retryAfter));
      return send(error.status, error.message, {
        ...(error.errors ? { errors: error.errors } : {}),
        ...(error.goOn ? { goOn: error.goOn } : {}),
      });
    }
    if (hasZodFastifySchemaValidationErrors(error)) {
      // A path that names nothing that could exist is unknown, like one that names nothing that does.
      if (error.validationContext === 'params') return send(404, SESSION_NOT_FOUND);
      const errors: Record<string, string> = {};
      for (const issue of error.validation)
        errors[issue.instancePath.replace(/^\//, '') || 'body'] ??= issue.message ?? MALFORMED;
      return send(400, MALFORMED, { errors });
    }
    const status = 'statusCode' in error && error.statusCode ? error.statusCode : 500;
    if (status < 500)
      return send(
        status === 405 || status === 406 ? 400 : status,
        status === 413 ? 'This is too large.' : MALFORMED,
      );
    request.log.error({ err: error }, 'unexpected failure');
    return send(500, UNEXPECTED);
  });
}
