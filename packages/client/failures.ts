import type { Failure } from '#contract/schemas.ts';

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

  /** `path` is the path of the call, with the names of its parameters. */
  constructor(path: string, status: number, answer: Partial<Failure>, retryMs = 0) {
    super(answer.message ?? `The call failed with status ${status}.`);
    this.status = status;
    this.userMessage = answer.message || undefined;
    this.errors = answer.errors ?? {};
    this.goOn = answer.goOn;
    this.code = answer.code;
    this.reference = answer.reference;
    this.retryMs = retryMs;
    this.isLost = status === 404 && path.includes('{uuid}');
  }
}

/**
 * Thrown when a server does not implement a call that is not in the specification: it answers 404 without a code, while all
 * failures of our server have one. The page then leaves out the feature that needs the call.
 */
export class NotOffered extends ApiError {}

/** Thrown when the request could not be sent, or its response did not arrive. */
export class Unsent extends Error {
  readonly userMessage: string | undefined;

  constructor(cause: unknown, userMessage?: string) {
    super('The request could not be sent.', { cause });
    this.userMessage = userMessage;
  }
}

/** Awaits a call that is not in the specification. Returns `instead` if the server does not implement it. */
export async function ifOffered<T, Instead>(calling: Promise<T>, instead: Instead): Promise<T | Instead> {
  try {
    return await calling;
  } catch (error) {
    if (error instanceof NotOffered) return instead;
    throw error;
  }
}

/** Returns the message for an error: the server's own, otherwise the fallback (specification, section 8). */
export function messageOf(error: unknown, fallback: string): string {
  return ((error instanceof ApiError || error instanceof Unsent) && error.userMessage) || fallback;
}

/** The minimum delay before an automatic retry (ms); null if a retry would not help. */
export type RetryMs = number | null;

/**
 * Returns the minimum delay before a retry (ms); null if a retry would not help. A retry helps only after a 503 with a message:
 * our server's own, or the sentence for a proxy's answer.
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
 * - `refused`: trying again would give the same answer.
 * - `unsent`: no answer arrived. The joiner can try again.
 * - `busy`: the server could not answer. The joiner can try again. If there is a `retryMs`, the page also tries again
 *   automatically.
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
