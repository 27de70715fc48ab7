import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Log } from './deps.ts';
import { providerSeconds } from './metrics.ts';

/**
 * The result of a call to a provider:
 * - `declined`: a bank declined the card.
 * - `rejected`: the provider rejected the request's content, which can be part of a normal join.
 * - `refused`: the provider does not accept our key.
 * - `limited`: too many calls were made.
 * - `failed`: no answer came, or an error of the provider.
 */
export type CallResult = 'ok' | 'declined' | 'rejected' | 'refused' | 'limited' | 'failed';

/** Maps an HTTP status of Stripe or HubSpot to a result. */
export function resultOf(status: number): CallResult {
  if (status >= 200 && status < 300) return 'ok';
  if (status === 402) return 'declined';
  if (status === 401 || status === 403) return 'refused';
  // HubSpot answers 477 while it moves an account to another data centre.
  if (status === 423 || status === 429 || status === 477) return 'limited';
  return status < 400 || status === 408 || status >= 500 ? 'failed' : 'rejected';
}

export interface CallNote {
  result: CallResult;
  /** The provider's own id of the request. */
  requestId: string | null;
}

/**
 * Makes a call to a provider by running `work`, which can report the result with `note`. Without a call of `note`, the result is
 * `ok`, or `failed` if `work` throws.
 */
export type WatchCall = <T>(
  /** `operation` has few different values and contains no id, since it is a metric's label. */
  call: { provider: 'stripe' | 'hubspot' | 'mail'; operation: string },
  work: (note: (noted: Partial<CallNote>) => void) => Promise<T>,
) => Promise<T>;

/**
 * Returns a function that measures calls to providers for the metrics, makes a trace span for each, and logs each with the
 * provider's request id.
 */
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
          // `work` may have noted `ok` when the HTTP status arrived, before the rest of the answer failed. Therefore `ok` becomes
          // `failed`.
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

/** Returns the tracer; without telemetry its spans do nothing. Call this for each span, since telemetry may start later. */
export function tracer() {
  return trace.getTracer('induct');
}
