import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { Providers } from '../../platform/config/providers.ts';
import { resultOf, type WatchCall } from '../../platform/watchCall.ts';
import type { ReportTrouble } from '../../providers/trouble.ts';
import { jsonOf } from './answers.ts';
import type { Budget, CallKind, Urgency } from './budget.ts';
import { CrmUnavailable } from './errors.ts';
import { correlationIdOf, failureOf } from './failures.ts';

export const DEFAULT_TIMEOUT_MS = 10_000;
/** The longest time that background work waits for a token. If the wait would be longer, the call fails, and is retried later. */
const LONGEST_WAIT_MS = 2_000;

interface Options {
  /** A FormData, or a value that is sent as JSON. */
  body?: unknown;
  /** From sending the request to the end of the answer. */
  timeoutMs?: number | undefined;
  kind?: CallKind;
  who?: Urgency | undefined;
}
type Method = 'GET' | 'POST' | 'DELETE';
type Call<Absent> = <T>(
  shape: z.ZodType<T>,
  method: Method,
  /** The path and the query. */
  path: string,
  options?: Options,
) => Promise<T | Absent>;

/**
 * Returns functions that call HubSpot and parse its answer by a shape. Each call takes a token from the shared budget. If there
 * is none, a call for a joiner fails at once, and background work waits for at most {@link LONGEST_WAIT_MS}. The functions throw
 * CrmUnavailable, CrmDenied or CrmRefused, and report failures by `report`. An answer of another shape counts as a failure, since
 * another server may have sent it. `callAboutOne` returns null if HubSpot answers that the record does not exist (404).
 */
export function hubspotCalls(
  { url, accessToken }: Providers['hubspot'],
  budget: Budget,
  urgency: 'joiner' | 'background',
  report: ReportTrouble,
  watch: WatchCall,
): { call: Call<never>; callAboutOne: Call<null> } {
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
    isAboutOne: boolean,
    shape: z.ZodType<T>,
    method: Method,
    path: string,
    { body, timeoutMs = DEFAULT_TIMEOUT_MS, kind = 'call', who = urgency }: Options = {},
  ): Promise<T | null> {
    await takeTurn(kind, who);
    const name = nameOf(method, path);
    const isJson = body !== undefined && !(body instanceof FormData);
    const type = isJson ? { 'content-type': 'application/json' } : {};
    const answered = await watch({ provider: 'hubspot', operation: name }, async (note) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${accessToken}`, ...type },
        body: isJson ? JSON.stringify(body) : ((body as FormData | undefined) ?? null),
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
      return { status, retryAfter: headers.get('retry-after'), requestId, json, read, isUnknown };
    }).catch(async (error: unknown) => {
      const [code, message] = error instanceof Error ? [error.name, error.message] : [null, String(error)];
      const cause = { status: null, code, param: null, requestId: null, notice: null };
      await Promise.all([budget.failed(kind), report({ provider: 'HubSpot', call: name, ...cause })]);
      throw new CrmUnavailable(message, 0, true);
    });
    if (answered.read?.success || answered.isUnknown) {
      await budget.answered(kind);
      return answered.read?.success ? answered.read.data : null;
    }
    const { counts, error, trouble } = failureOf(name, answered);
    await report(trouble);
    if (counts === 'answered' || counts === 'failed') await budget[counts](kind);
    else await budget.limited(counts === 'limited' ? kind : 'all', (error as CrmUnavailable).retryAfterMs);
    throw error;
  }

  return {
    // `send` returns null only if its first argument is true.
    call: async (...request) => (await send(false, ...request))!,
    callAboutOne: (...request) => send(true, ...request),
  };
}

/** Returns a call's name for the log and the metrics, without the query, and with `:id` for ids, emails and file names. */
export function nameOf(method: Method, path: string): string {
  const [named] = path.split('?', 1);
  return `${method} ${named!.replace(/\/(?!v\d\/|\d{4}-\d{2}\/)[^/]*[\d%@][^/]*/g, '/:id')}`;
}
