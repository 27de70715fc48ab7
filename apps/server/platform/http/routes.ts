import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodType } from 'zod';
import { type CallName, calls } from '#contract/calls.ts';
import { type Data, type Params, type ParsedBody, schemas, successOf } from '#contract/schemas.ts';
import { failure } from '#contract/shapes.ts';
import type { Holding } from '#core/holding.ts';
import type { Deps } from '../deps.ts';

export interface CallContext<Name extends CallName> {
  params: Params<Name>;
  body: ParsedBody<Name>;
  /** How the caller's browser holds the join that the path names; not at all if it names none. */
  holding: Holding;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** The result of a use case: the contract's `data`, and a message for the joiner if the contract has one. */
export interface Answer<Name extends CallName> {
  data: Data<Name>;
  message?: string;
}

export const failures = Object.fromEntries(
  [400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503].map((status) => [status, failure]),
);

/** Returns the route template of a call in Fastify's syntax: `/api/public/join-session/:uuid/welcome`. */
export function templateOf(name: CallName): string {
  return calls[name].path.replace(/\{(\w+)\}/g, ':$1');
}

/** Registers a call with the path, request schema and answer schema of the contract. */
export function serve<Name extends CallName>(
  app: FastifyInstance,
  { browser }: Pick<Deps, 'browser'>,
  name: Name,
  handler: (context: CallContext<Name>) => Promise<Answer<Name>> | Answer<Name>,
): void {
  const { method } = calls[name];
  const shape = schemas[name] as { params?: ZodType; body?: ZodType; data: ZodType };
  app.route({
    method,
    url: templateOf(name),
    schema: {
      operationId: name,
      ...(shape.params ? { params: shape.params } : {}),
      ...(shape.body ? { body: shape.body } : {}),
      response: { 200: successOf(name), ...failures },
    },
    handler: async (request, reply) => {
      const { data, message } = await handler({
        params: request.params as Params<Name>,
        body: request.body as ParsedBody<Name>,
        holding: browser.holdingOf(request, (request.params as { uuid?: string }).uuid ?? ''),
        request,
        reply,
      });
      return { success: true, status: 'success', ...(message === undefined ? {} : { message }), data };
    },
  });
}
