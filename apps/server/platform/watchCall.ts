import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Log } from '../deps.ts';
import { providerSeconds } from './metrics.ts';

/**
 * The result of a call to a provider. `declined`: a bank declined. `rejected`: the provider refused the request's content, which
 * may be part of a normal join. `refused`: the provider refuses our key until somebody repairs it. `limited`: too many calls.
 * `failed`: no answer, or an error of the provider itself.
 */
export type CallResult = 'ok' | 'declined' | 'rejected' | 'refused' | 'limited' | 'failed';

/** Derives the result from an HTTP status, as Stripe and HubSpot use it. */
export function resultOf(status: number): CallResult {
  if (status >= 200 && status < 300) return 'ok';
  if (status === 402) return 'declined';
  if (status === 401 || status === 403) return 'refused';
  // 477: HubSpot is moving the account between data centres.
  if (status === 423 || status === 429 || status === 477) return 'limited';
  return status < 400 || status === 408 || status >= 500 ? 'failed' : 'rejected';
}

export interface CallNote {
  result: CallResult;
  /** The provider's own id of the request. */
  requestId: string | null;
}

/** Makes a call to a provider. `work` reports the result with `note`; the default is `ok`, or `failed` if `work` threw. */
export type WatchCall = <T>(
  /** `operation` has few values and contains no id. */
  call: { provider: 'stripe' | 'hubspot' | 'mail'; operation: string },
  work: (note: (noted: Partial<CallNote>) => void) => Promise<T>,
) => Promise<T>;

/** Counts and times calls to providers, makes a span for each, and logs it with the provider's own request id. */
export function callWatcher(log: Pick<Log, 'info'> | null): WatchCall {
  return (call, work) =>
    tracer().startActiveSpan(
      `${call.provider} ${call.operation}`,
      { kind: SpanKind.CLIENT, attributes: { 'peer.service': call.provider } },
      async (span) => {
        const noted: Partial<CallNote> = {};
        const begin = performance.now();
        try {
          return await work((more) => Object.assign(noted, more));
        } catch (error) {
          // The call was noted as `ok`, but the rest of its answer did not arrive.
          if (noted.result === undefined || noted.result === 'ok') noted.result = 'failed';
          throw error;
        } finally {
          const { result = 'ok', requestId } = noted;
          const ms = performance.now() - begin;
          providerSeconds.observe({ ...call, result }, ms / 1000);
          log?.info(
            { ...call, result, ms: Math.round(ms), ...(requestId && { requestId }) },
            'a provider was called',
          );
          if (requestId) span.setAttribute('provider.request_id', requestId);
          span.setAttribute('provider.result', result);
          if (result !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        }
      },
    );
}

/** Returns the tracer, which does nothing without tracing. Must be called for each span, since tracing may start later. */
export function tracer() {
  return trace.getTracer('induct');
}
