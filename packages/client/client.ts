import { type CallName, calls, pathOf } from '#contract/calls.ts';
import type { Answered, Body, Failure, Params } from '#contract/schemas.ts';
import { type ToastText, toastFor, UNSENT_TOAST } from '#core/sentences.ts';
import { exchange } from './exchange.ts';
import { ApiError, failureOf, NotOffered, type Outcome, Unsent } from './failures.ts';
import { readAnswer } from './readAnswer.ts';

/**
 * The toast of a failed call. `reference` is the reference of a server failure, by which staff find it in the log
 * (`Failure['reference']`).
 */
export interface FailureToast extends ToastText {
  reference?: string | undefined;
}

/** The functions that a web app provides to its client. */
export interface Surroundings {
  /** Returns the origin of the API; '' for the page's own. */
  apiUrl: () => string;
  showFailure: (toast: FailureToast) => void;
  /** Returns the value that a loader throws to redirect to another path of the app. */
  redirectTo: (path: string) => unknown;
}

export interface Loudness {
  /**
   * Whether a loader makes the call. If the server answers that the session continues on another screen, no toast is then shown,
   * since the loader redirects to that screen.
   */
  loading?: boolean | undefined;
  /**
   * The failures for which no toast is shown. With `true`, these are all failures (specification, section 8, payment return).
   * With an HTTP status or a `code`, these are the failures with that status or code, which the screen handles itself. A 503 with
   * a sentence never shows a toast, since every screen shows the sentence, and most try again automatically.
   */
  quiet?: boolean | number | Failure['code'] | undefined;
  /** Aborts the request. An aborted request shows no toast. */
  signal?: AbortSignal | undefined;
}

export type CallOptions<Name extends CallName> = (Params<Name> extends Record<string, never>
  ? { params?: undefined }
  : { params: Params<Name> }) &
  (Body<Name> extends undefined ? { body?: undefined } : { body: Body<Name> }) &
  Loudness;

type Arguments<Name extends CallName> =
  Record<string, never> extends Omit<CallOptions<Name>, keyof Loudness>
    ? [options?: CallOptions<Name>]
    : [options: CallOptions<Name>];

export type Client = ReturnType<typeof createClient>;

/** Makes the functions with which an app calls the server. */
export function createClient({ apiUrl, showFailure, redirectTo }: Surroundings) {
  const urlOf = (name: CallName, params?: Record<string, string>) => apiUrl() + pathOf(name, params);

  /** Awaits a call. If it fails, shows the failure's toast (specification, section 8), unless the options suppress it. */
  async function reporting<T>(calling: Promise<T>, options: Loudness): Promise<T> {
    try {
      return await calling;
    } catch (error) {
      const toast = toastOf(error, options);
      if (toast) showFailure(toast);
      throw error;
    }
  }

  /** Makes a call of the contract and returns its `data`. A failure throws `ApiError` or `Unsent` and shows a toast. */
  function call<Name extends CallName>(name: Name, ...[options]: Arguments<Name>): Promise<Answered<Name>> {
    const { params, body, ...loudness } = (options ?? {}) as Loudness & {
      params?: Record<string, string>;
      body?: unknown;
    };
    return reporting(send(name, urlOf(name, params), body, loudness.signal), loudness);
  }

  /**
   * Awaits a loader's data, and turns a failure into data that the screen can show. If the server says that the session continues
   * on another screen, throws a redirect to that screen.
   */
  async function outcomeOf<T>(loading: Promise<T>, fallback: string): Promise<Outcome<T>> {
    try {
      return { data: await loading };
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && error.goOn) throw redirectTo(error.goOn);
      return failureOf(error, fallback);
    }
  }

  return { call, outcomeOf, reporting, urlOf };
}

async function send<Name extends CallName>(
  name: Name,
  url: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<Answered<Name>> {
  const { status, answer, retryAfter } = await exchange(url, { method: calls[name].method, body, signal });
  return readAnswer(name, status, answer, retryAfter);
}

/** Returns the toast for a failed call; null if none is shown. */
export function toastOf(error: unknown, { loading, quiet, signal }: Loudness): FailureToast | null {
  if (quiet === true || signal?.aborted || error instanceof NotOffered) return null;
  if (error instanceof Unsent) return UNSENT_TOAST;
  if (!(error instanceof ApiError)) return null;
  const { status, userMessage, code, goOn, reference } = error;
  const goesOn = loading && status === 409 && goOn !== undefined;
  // The screen handles the failure with this status itself, but only if there is a sentence to show: our server's message, or the
  // sentence for a proxy's status. A proxy's answer with another status has none.
  const isExpected = (quiet === status || status === 503) && userMessage !== undefined;
  if (goesOn || isExpected || (quiet && quiet === code)) return null;
  return { ...toastFor(status, userMessage), reference };
}
