import { redirect, replace } from 'react-router';
import { type CallName, calls, pathOf, specifiedCalls } from '#contract/calls.ts';
import type { Answered, Body, Failure, Params } from '#contract/schemas.ts';
import { NO_ANSWER, sentenceOfProxy, toastFor, UNSENT_TOAST } from '#core/sentences.ts';
import { keepReference } from './reference.ts';
import { storedSession } from './session.ts';
import { theSite } from './site.ts';
import { raiseToast } from './toasts.ts';
import { Late, within } from './within.ts';

/** Thrown when the server answered with a failure. */
export class ApiError extends Error {
  readonly status: number;
  readonly userMessage: string | undefined;
  readonly errors: Record<string, string>;
  readonly goOn: string | undefined;
  readonly code: Failure['code'] | undefined;
  readonly reference: string | undefined;
  /** The value of the header Retry-After in ms; 0 when it is missing. */
  readonly retryMs: number;
  /** Whether the server does not know the session of the call. */
  readonly isLost: boolean;

  constructor(name: CallName, status: number, answer: Partial<Failure>, retryMs = 0) {
    super(answer.message ?? `The call failed with status ${status}.`);
    this.status = status;
    this.userMessage = answer.message || undefined;
    this.errors = answer.errors ?? {};
    this.goOn = answer.goOn;
    this.code = answer.code;
    this.reference = answer.reference;
    this.retryMs = retryMs;
    this.isLost = status === 404 && calls[name].path.includes('{uuid}');
  }
}

/**
 * Thrown when a server does not have a call, which is not in the specification: it answered 404 without the code that all failures
 * of ours have. The page then leaves out what the call is for.
 */
export class NotOffered extends ApiError {}

/** Awaits a call that the specification does not have. Returns `instead` if the server does not have it either. */
export async function ifOffered<T, Instead>(calling: Promise<T>, instead: Instead): Promise<T | Instead> {
  try {
    return await calling;
  } catch (error) {
    if (error instanceof NotOffered) return instead;
    throw error;
  }
}

/** Thrown when the request could not be sent, or its response did not arrive. */
export class Unsent extends Error {
  readonly userMessage: string | undefined;

  constructor(
    message: string,
    { userMessage, cause }: { userMessage?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.userMessage = userMessage;
  }
}

type Quiet = boolean | number | Failure['code'];

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
     * With an HTTP status or a `code`, these are the failures with that status or code, which the screen handles itself. A 503 with
     * a sentence never shows a toast: every screen shows the sentence, and most try again by themselves.
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
): Promise<Answered<Name>> {
  const { params, body, loading, quiet, signal } = (options ?? {}) as {
    params?: Record<string, string>;
    body?: unknown;
    loading?: boolean;
    quiet?: Quiet;
    signal?: AbortSignal;
  };
  const asked = (ended: AbortSignal) =>
    fetch(urlOf(name, params), {
      method: calls[name].method,
      credentials: 'include',
      signal: ended,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  let arrived: { response: Response; text: string };
  try {
    arrived = await within(async (ended) => {
      const response = await asked(ended);
      // Reading the body rejects if the connection breaks off or the call is aborted. The answer has then not arrived.
      return { response, text: await response.text() };
    }, signal);
  } catch (cause) {
    if (quiet !== true && !signal?.aborted) raiseUnsent();
    throw unsent(cause);
  }
  const { response, text } = arrived;
  const retryAfter = response.headers.get('retry-after');
  return readAnswer(name, response.status, jsonOf(text), { loading, quiet, retryAfter });
}

/** Returns the error of a request without an answer. `userMessage` is the sentence for one that did not just take too long. */
export function unsent(cause: unknown, userMessage?: string): Unsent {
  return new Unsent('The request could not be sent.', {
    cause,
    userMessage: cause instanceof Late ? NO_ANSWER : userMessage,
  });
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
  name: Name,
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
): Answered<Name> {
  const isJson = typeof answer === 'object' && answer !== null;
  const body = (isJson ? answer : { message: ofProxy(status) }) as Json;
  if (status === 404 && !body.code && !isSpecified(name)) throw new NotOffered(name, status, {});
  if (isJson && status >= 200 && status < 300) {
    // The table names the fields of some answers without `data`.
    const data = (body.data ?? body) as Json;
    if (isSuccess(name, body, data)) return data as Answered<Name>;
  }
  const seconds = Number(retryAfter);
  const error = new ApiError(name, status, body as Partial<Failure>, seconds > 0 ? seconds * 1000 : 0);
  const goesOn = loading && status === 409 && error.goOn !== undefined;
  // The screen handles the failure with this status itself, but only if our server sent the failure. A response without a message
  // comes from somewhere else, such as a proxy.
  const isExpected = (quiet === status || status === 503) && error.userMessage !== undefined;
  const isQuiet = quiet === true || isExpected || (!!quiet && quiet === error.code);
  if (!isQuiet && !goesOn) {
    const { reference } = error;
    raiseToast({ kind: 'error', ...toastFor(status, error.userMessage), reference });
    if (reference) keepReference(reference);
  }
  throw error;
}

type Json = Record<string, unknown>;

function isSpecified(name: CallName): boolean {
  return (specifiedCalls as readonly CallName[]).includes(name);
}

/** Whether a 2xx answer is a success, by the fields that the specification's table names for the call. */
function isSuccess(name: CallName, body: Json, data: Json): boolean {
  if (name === 'deleteSessionProduct') return (data.status ?? body.status) === 'success';
  if (name === 'submitDetails' || name === 'uploadTranscript') return (body.success ?? data.success) === true;
  // All answers of ours say so. An answer to `begin-payment` that does not say it charges nothing.
  if (!isSpecified(name)) return body.success === true;
  return body.success !== false && body.status !== 'error';
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

/**
 * Why a screen's data could not be loaded, and what helps:
 * - `lost`: the session cannot continue. The joiner must start over.
 * - `refused`: the server will not answer otherwise.
 * - `unsent`: no answer came. The joiner can try again.
 * - `busy`: the server could not answer. The joiner can try again, and with `retryMs` the page does so by itself.
 */
export interface LoadFailure {
  kind: 'lost' | 'refused' | 'unsent' | 'busy';
  message: string;
  retryMs: RetryMs;
  code?: Failure['code'] | undefined;
}

export function failureOf(error: unknown, fallback: string): LoadFailure {
  return {
    kind: kindOf(error),
    message: messageOf(error, fallback),
    retryMs: retryMsOf(error),
    ...(error instanceof ApiError && error.code && { code: error.code }),
  };
}

function kindOf(error: unknown): LoadFailure['kind'] {
  if (!(error instanceof ApiError)) return 'unsent';
  if (error.isLost) return 'lost';
  const { status } = error;
  return status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'refused' : 'busy';
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
    return failureOf(error, fallback);
  }
}

/** Returns the id of the stored session, for loaders. Throws a redirect to the home page if there is none. */
export function requireSession(): string {
  const uuid = storedSession();
  if (!uuid) throw redirect('/');
  return uuid;
}
