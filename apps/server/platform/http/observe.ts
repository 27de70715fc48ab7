import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CallName } from '#contract/calls.ts';
import { joins, requestSeconds } from '../metrics.ts';
import { tracer } from '../watchCall.ts';

/** Of calls that bring a join to a stage by being answered; paid is told by whoever confirms a payment. */
const stages: Partial<Record<CallName, string>> = {
  initiateJoin: 'started',
  initiateSchoolJoin: 'started',
  initiateSelfNomination: 'started',
  initJoin: 'started',
  initiateCheckout: 'started',
  submitDetails: 'detailed',
  setMembership: 'ordering',
  beginPayment: 'paying',
};

/** A route by its template: no id, no query, and one name for all that is none. Never a path, since a session's uuid is a credential. */
export function routeOf({ routeOptions: { url } }: FastifyRequest): string {
  return url === undefined || url === '/*' || url === '*' ? 'none' : url;
}

function operationOf({ routeOptions: { schema } }: FastifyRequest): CallName {
  return (schema as { operationId?: string } | undefined)?.operationId as CallName;
}

/** Counts and times every request, and makes a span of it, within which all of it runs. */
export function observeRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const route = routeOf(request);
    const method = route === 'none' ? 'any' : request.method;
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'induct.request_id': request.id,
    };
    const span = tracer().startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes });
    // Also when its caller went away before the answer.
    reply.raw.once('close', () => {
      const status = reply.raw.statusCode;
      requestSeconds.observe({ method, route, status }, reply.elapsedTime / 1000);
      const stage = stages[operationOf(request)];
      if (stage && status === 200) joins.inc({ stage });
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(context.active(), span), done);
  });
}
