import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { Providers } from '../../platform/config/providers.ts';
import { resultOf, type WatchCall } from '../../platform/watchCall.ts';
import type { ProviderTrouble, TellTrouble } from '../../providers/trouble.ts';
import { jsonOf } from './answers.ts';
import type { Budget, CallKind, Urgency } from './budget.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from './errors.ts';
import { correlationIdOf, failureOf } from './failures.ts';

export const DEFAULT_TIMEOUT_MS = 10_000;
/**
 * The longest time that background work waits for a token. If the wait would be longer, the call fails, and the work is retried
 * later.
 */
const LONGEST_WAIT_MS = 2_000;

export interface Request {
  method: 'GET' | 'POST' | 'DELETE';
  /** The first part of the path, such as `/crm/objects/2026-09/contacts`. */
  under: string;
  /** The rest of the path and the query. */
  path?: string;
  /** A FormData, or a value that is sent as JSON. */
  body?: unknown;
  /** The timeout from sending the request to the end of the answer. */
  timeoutMs?: number | undefined;
  kind?: CallKind;
  who?: Urgency | undefined;
}

export interface HubspotCalls {
  /**
   * Makes a call and parses its answer by `shape`. Throws {@link CrmUnavailable}, {@link CrmDenied} or {@link CrmRefused}. An
   * answer that does not match `shape` counts as a failure of HubSpot, since another server may have sent it.
   */
  call<T>(shape: z.ZodType<T>, request: Request): Promise<T>;
  /** Like `call`, for a call about a single record. Returns null if HubSpot answers that the record does not exist (404). */
  callAboutOne<T>(shape: z.ZodType<T>, request: Request): Promise<T | null>;
}

/**
 * Returns functions that call HubSpot. Each call has a timeout and takes a token from the shared budget. If there is no token, a
 * call for a joiner fails at once, and a call of background work waits. Failures are reported to `tell`.
 */
export function hubspotCalls(
  { url, accessToken }: Providers['hubspot'],
  budget: Budget,
  urgency: 'joiner' | 'background',
  tell: TellTrouble,
  watch: WatchCall,
): HubspotCalls {
  async function takeTurn(kind: CallKind, who: Urgency): Promise<void> {
    for (;;) {
      const ms = await budget.take(kind, who);
      if (ms === 0) return;
      if (urgency === 'joiner' || ms > LONGEST_WAIT_MS)
        throw new CrmUnavailable('HubSpot takes no more calls at this moment', ms);
      await pause(ms);
    }
  }

  async function send<T>(
    shape: z.ZodType<T>,
    { method, under, path = '', body, timeoutMs = DEFAULT_TIMEOUT_MS, kind = 'call', who = urgency }: Request,
    isAboutOne: boolean,
  ): Promise<T | null> {
    await takeTurn(kind, who);
    const name = nameOf(method, under, path);
    const answered = await watch({ provider: 'hubspot', operation: name }, async (note) => {
      const response = await fetch(url + under + path, {
        method,
        headers: {
          authorization: `Bearer ${accessToken}`,
          ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
        // HubSpot's API never redirects, so a redirect comes from another server, which must not get the token.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { status, headers } = response;
      const header = headers.get('x-hubspot-correlation-id');
      note({ result: resultOf(status), requestId: header });
      const json = jsonOf(await response.text());
      const requestId = header ?? correlationIdOf(json);
      note({ requestId });
      const read = response.ok ? shape.safeParse(json) : null;
      if (read?.success === false) note({ result: 'failed' });
      const isUnknown = status === 404 && isAboutOne && typeof json === 'object';
      if (isUnknown) note({ result: 'ok' });
      return { status, headers, requestId, json, read, isUnknown };
    }).catch(async (error: unknown) => {
      await Promise.all([budget.failed(kind), tell(noAnswer(name, error))]);
      throw new CrmUnavailable(error instanceof Error ? error.message : String(error), 0, true);
    });
    const { status, headers, requestId, json, read, isUnknown } = answered;
    if (read?.success || isUnknown) {
      await budget.answered(kind);
      return read?.success ? read.data : null;
    }
    const failure = failureOf(name, {
      status,
      retryAfter: headers.get('retry-after'),
      requestId,
      json,
    });
    await tell(failure.trouble);
    switch (failure.kind) {
      case 'refused':
        await budget.answered(kind);
        throw new CrmRefused(status, failure.message, failure.isEmail);
      case 'denied':
        await budget.answered(kind);
        throw new CrmDenied(status, failure.message, failure.retryAfterMs);
      case 'limited':
        await budget.limited(failure.ofAll ? 'all' : kind, failure.retryAfterMs);
        throw new CrmUnavailable(failure.message, failure.retryAfterMs);
      case 'down':
        await budget.failed(kind);
        throw status === 401
          ? new CrmDenied(status, failure.message, failure.retryAfterMs)
          : new CrmUnavailable(failure.message, failure.retryAfterMs, failure.perhapsRecord);
    }
  }

  return {
    // `send` returns null only if its last argument is true.
    call: async (shape, request) => (await send(shape, request, false))!,
    callAboutOne: (shape, request) => send(shape, request, true),
  };
}

/** Returns a call's name for the log and the metrics. Ids, emails and file names in it are replaced by `:id`. */
export function nameOf(method: string, under: string, path: string): string {
  const [named] = path.split('?', 1);
  return `${method} ${under}${named!.replace(/\/[^/]*[\d%@][^/]*/g, '/:id')}`;
}

function noAnswer(call: string, error: unknown): ProviderTrouble {
  const code = error instanceof Error ? error.name : null;
  return { provider: 'HubSpot', call, status: null, code, param: null, requestId: null, notice: null };
}
