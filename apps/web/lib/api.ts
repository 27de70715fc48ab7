import { redirect, replace } from 'react-router';
import { type CallName, calls, pathOf } from '#contract/calls.ts';
import type { Body, Data, Failure, Params } from '#contract/schemas.ts';
import { sentenceOfProxy, toastFor, UNSENT_TOAST } from '#core/sentences.ts';
import { keepReference } from './reference.ts';
import { storedSession } from './session.ts';
import { theSite } from './site.ts';
import { raiseToast } from './toasts.ts';

/** Thrown when the server answered with a failure. */
export class ApiError extends Error {
  readonly status: number;
  readonly userMessage: string | undefined;
  readonly errors: Record<string, string>;
  readonly goOn: string | undefined;
  readonly code: Failure['code'];
  readonly reference: string | undefined;
  /** The value of the header Retry-After in ms; 0 when it is missing. */
  readonly retryMs: number;

  constructor(status: number, answer: Partial<Failure>, retryMs = 0) {
    super(answer.message ?? `The call failed with status ${status}.`);
    this.status = status;
    this.userMessage = answer.message || undefined;
    this.errors = answer.errors ?? {};
    this.goOn = answer.goOn;
    this.code = answer.code;
    this.reference = answer.reference;
    this.retryMs = retryMs;
  }
}

/** Thrown when the request could not be sent, or its response did not arrive. */
export class Unsent extends Error {
  readonly userMessage: string | undefined;

  constructor(message: string, { userMessage, cause }: { userMessage?: string; cause?: unknown } = {}) {
    super(message, { cause });
    this.userMessage = userMessage;
  }
}

type Quiet = boolean | number | NonNullable<Failure['code']>;

export type CallOptions<Name extends CallName> = (Params<Name> extends Record<string, never>
  ? { params?: undefined }
  : { params: Params<Name> }) &
  (Body<Name> extends undefined ? { body?: undefined } : { body: Body<Name> }) & {
    /**
     * Whether a loader makes the call. If the server then answers that the session continues on another screen, no toast is shown,
     * since the loader redirects to that screen.
     */
    loading?: boolean;
    /**
     * The failures for which no toast is shown. With `true`, these are all failures (specification, section 8, payment return).
     * With an HTTP status or a `code`, these are the failures with that status or code, which the screen handles itself.
     */
    quiet?: Quiet;
    /** Aborts the request. An aborted request shows no toast. */
    signal?: AbortSignal;
  };

type Arguments<Name extends CallName> =
  Record<string, never> extends Omit<CallOptions<Name>, 'loading' | 'quiet' | 'signal'>
    ? [options?: CallOptions<Name>]
    : [options: CallOptions<Name>];

/**
 * Makes a call of the contract and returns its `data`. A failure throws `ApiError` or `Unsent` and shows a toast (specification,
 * section 8), unless the options suppress it.
 */
export async function call<Name extends CallName>(
  name: Name,
  ...[options]: Arguments<Name>
): Promise<Data<Name>> {
  const { params, body, loading, quiet, signal } = (options ?? {}) as {
    params?: Record<string, string>;
    body?: unknown;
    loading?: boolean;
    quiet?: Quiet;
    signal?: AbortSignal;
  };
  let status: number;
  let answer: unknown;
  let retryAfter: string | null;
  try {
    const response = await fetch(urlOf(name, params), {
      method: calls[name].method,
      credentials: 'include',
      signal: signal ?? null,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    status = response.status;
    retryAfter = response.headers.get('retry-after');
    // Reading the body rejects if the connection breaks off or the call is aborted. The answer has then not arrived.
    answer = jsonOf(await response.text());
  } catch (cause) {
    if (quiet !== true && !signal?.aborted) raiseUnsent();
    throw new Unsent('The request could not be sent.', { cause });
  }
  return readAnswer<Name>(status, answer, { loading, quiet, retryAfter });
}

/** Returns the value of a JSON text; null for any other text, such as a proxy's page. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function urlOf(name: CallName, params?: Record<string, string>): string {
  return theSite().apiUrl + pathOf(name, params);
}

/**
 * Returns the `data` of a response. A failure throws `ApiError` and shows a toast. `ofProxy` returns the sentence for a proxy's
 * answer by its status.
 */
export function readAnswer<Name extends CallName>(
  status: number,
  answer: unknown,
  {
    loading = false,
    quiet = false,
    retryAfter = null,
    ofProxy = sentenceOfProxy,
  }: {
    loading?: boolean | undefined;
    quiet?: Quiet | undefined;
    /** The value of the header Retry-After, in seconds. */
    retryAfter?: string | null;
    ofProxy?: (status: number) => string | undefined;
  } = {},
): Data<Name> {
  const isOurs = typeof answer === 'object' && answer !== null;
  const body = (isOurs ? answer : { message: ofProxy(status) }) as Partial<Failure> & { data?: Data<Name> };
  if (status >= 200 && status < 300 && (body.success as unknown) === true) return body.data as Data<Name>;
  const seconds = Number(retryAfter);
  const error = new ApiError(status, body, seconds > 0 ? seconds * 1000 : 0);
  const goesOn = loading && status === 409 && error.goOn !== undefined;
  // The screen handles the failure with this status itself, but only if our server sent the failure. A response without a message
  // comes from somewhere else, such as a proxy.
  const isExpected = quiet === status && error.userMessage !== undefined;
  const isQuiet = quiet === true || isExpected || (!!quiet && quiet === error.code);
  if (!isQuiet && !goesOn) {
    const { reference } = error;
    raiseToast({ kind: 'error', ...toastFor(status, error.userMessage), reference });
    if (reference) keepReference(reference);
  }
  throw error;
}

export function raiseUnsent(): void {
  raiseToast({ kind: 'error', ...UNSENT_TOAST });
}

/** Returns the message for an error: the server's own, otherwise the fallback (specification, section 8). */
export function messageOf(error: unknown, fallback: string): string {
  return ((error instanceof ApiError || error instanceof Unsent) && error.userMessage) || fallback;
}

/** The minimum delay before an automatic retry (ms); null if a retry would not help. */
export type RetryMs = number | null;

/**
 * Returns the minimum delay before a retry (ms); null if a retry would not help. A retry helps only after a 503 with a message,
 * since only answers of our server have one.
 */
export function retryMsOf(error: unknown): RetryMs {
  return error instanceof ApiError && error.status === 503 && error.userMessage !== undefined
    ? error.retryMs
    : null;
}

/** The data of a screen, or the failure to load them. */
export type Outcome<T> = { data: T } | LoadFailure;

export interface LoadFailure {
  message: string;
  /** Whether the joiner must start over, because the session cannot continue. For example, the server does not know the session. */
  isLost: boolean;
  retryMs: RetryMs;
  code?: Failure['code'];
}

/**
 * Awaits a loader's data, and turns a failure into data that the screen can show. If the server says that the session continues on
 * another screen, throws a redirect to that screen.
 */
export async function outcomeOf<T>(loading: Promise<T>, fallback: string): Promise<Outcome<T>> {
  try {
    return { data: await loading };
  } catch (error) {
    if (error instanceof ApiError && error.status === 409 && error.goOn) throw replace(error.goOn);
    const isLost = error instanceof ApiError && error.status === 404;
    const code = error instanceof ApiError ? error.code : undefined;
    return { message: messageOf(error, fallback), isLost, retryMs: retryMsOf(error), code };
  }
}

/** Returns the id of the stored session, for loaders. Throws a redirect to the home page if there is none. */
export function requireSession(): string {
  const uuid = storedSession();
  if (!uuid) throw redirect('/');
  return uuid;
}
