import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Log } from '../deps.ts';
import { providerSeconds } from './metrics.ts';

/**
 * What came of a call to a provider. `declined`: by a bank; `rejected`: what was sent, which may be part of a join; `refused`: our key,
 * until somebody puts it right; `limited`: there were too many; `failed`: no answer, or a failure of the provider's own.
 */
export type CallResult = 'ok' | 'declined' | 'rejected' | 'refused' | 'limited' | 'failed';

/** By an HTTP status, as Stripe and HubSpot use them. */
export function resultOf(status: number): CallResult {
  if (status >= 200 && status < 300) return 'ok';
  if (status === 402) return 'declined';
  if (status === 401 || status === 403) return 'refused';
  // 477: HubSpot moves the account between data centres.
  if (status === 423 || status === 429 || status === 477) return 'limited';
  return status < 400 || status === 408 || status >= 500 ? 'failed' : 'rejected';
}

export interface CallNote {
  result: CallResult;
  /** By which the provider finds it. */
  requestId: string | null;
}

/** Makes a call to a provider. `note` says what came of it; without it `ok`, or `failed` when it threw. */
export type WatchCall = <T>(
  /** `operation` is one of few: no id is in it. */
  call: { provider: 'stripe' | 'hubspot' | 'mail'; operation: string },
  work: (note: (noted: Partial<CallNote>) => void) => Promise<T>,
) => Promise<T>;

/** Counts and times calls to providers, makes a span of each, and logs it with the provider's own id of it. */
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
          // It began well: its answer broke off.
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

/** Asked for each time: tracing may begin after this file was loaded. Without it this is the API's tracer, which does nothing. */
export function tracer() {
  return trace.getTracer('induct');
}
