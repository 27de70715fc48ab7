import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CallName } from '#contract/calls.ts';
import { joins, requestSeconds } from '../metrics.ts';
import { tracer } from '../watchCall.ts';
import { routeOf } from './logging.ts';

/**
 * The stage that a join reaches when a call succeeds, for the metric. `paid` is absent, because it is counted where payments are
 * confirmed.
 */
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

function operationOf({ routeOptions: { schema } }: FastifyRequest): CallName {
  return (schema as { operationId?: string } | undefined)?.operationId as CallName;
}

/** Measures every request for the metrics, and starts a trace span that contains all that the request does. */
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
    // `close` is also emitted if the caller disconnects before the answer.
    reply.raw.once('close', () => {
      const status = reply.raw.statusCode;
      requestSeconds.observe({ method, route, status }, reply.elapsedTime / 1000);
      const stage = stages[operationOf(request)];
      if (stage && status === 200) joins.inc({ stage });
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    // Without telemetry the span records nothing, so it need not become the active span.
    if (span.isRecording()) context.with(trace.setSpan(context.active(), span), done);
    else done();
  });
}
