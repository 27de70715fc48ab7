import type { Failure } from '#contract/schemas.ts';

/**
 * An expected failure of a call, with its HTTP status and a sentence for the reader.
 * - 400: the request's data is wrong.
 * - 401: the caller is not signed in at the desk.
 * - 403: this browser may not make the call, or the call needs a signature.
 * - 404: the thing that the call names does not exist.
 * - 409: the current state does not allow the call.
 * - 408, 413 and 415: the body arrives too slowly, is too large, or is not of an accepted type.
 * - 429 and 503: the caller should retry later.
 */
export class Refusal extends Error {
  readonly status: number;
  /** By field name, a sentence about what is wrong with the field. */
  readonly errors: Record<string, string> | undefined;
  /** The screen on which the joiner can continue, if the session's state does not allow the call. */
  readonly goOn: string | undefined;
  /** A code for the page's own logic: `Failure['code']` of the contract. */
  readonly code: Failure['code'];
  /** The Retry-After header (s), for 429 and 503. */
  readonly retryAfter: number | undefined;
  /** Additional fields of this call's failure, by name. */
  readonly beside: object | undefined;

  constructor(
    status: number,
    message: string,
    more: {
      errors?: Record<string, string>;
      goOn?: string | undefined;
      code?: Failure['code'];
      retryAfter?: number;
      beside?: object;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = more.errors;
    this.goOn = more.goOn;
    this.code = more.code ?? codeOf(status);
    this.retryAfter = more.retryAfter;
    this.beside = more.beside;
  }

  /** The sentence that a joiner reads. */
  get sentence(): string {
    return this.message;
  }
}

/** Returns the default code of a failure, by its status. */
export function codeOf(status: number): Failure['code'] {
  return codes[status] ?? (status < 500 ? 'invalid' : 'failed');
}
const codes: Record<number, Failure['code']> = {
  401: 'signed_out',
  403: 'forbidden',
  404: 'not_found',
  408: 'too_slow',
  409: 'conflict',
  413: 'too_large',
  415: 'unsupported',
  429: 'too_many',
  503: 'unavailable',
};

export const SESSION_NOT_FOUND = 'This join session was not found. Please start over.';

export const LINE_NOT_FOUND = 'This item is not in the order.';

export function sessionNotFound(): Refusal {
  return new Refusal(404, SESSION_NOT_FOUND);
}
