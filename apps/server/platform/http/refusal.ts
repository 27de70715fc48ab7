/** An expected failure with its HTTP status and sentence. Any other error is a bug of ours and answered with 500. */
export class Refusal extends Error {
  readonly status: number;
  /** Field name → sentence. */
  readonly errors: Record<string, string> | undefined;
  /** The screen where the joiner can go on, if the call does not fit the session's state. */
  readonly goOn: string | undefined;
  /** A code that a page can act on: `Failure['code']` of the contract. */
  readonly code: 'perhaps_paid' | undefined;
  /** Seconds, for 429 and 503. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    message: string,
    more: {
      errors?: Record<string, string>;
      goOn?: string | undefined;
      code?: 'perhaps_paid';
      retryAfter?: number;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = more.errors;
    this.goOn = more.goOn;
    this.code = more.code;
    this.retryAfter = more.retryAfter;
  }

  /** The sentence that a joiner reads. */
  get sentence(): string {
    return this.message;
  }
}

export const SESSION_NOT_FOUND = 'This join session was not found. Please start over.';

export const LINE_NOT_FOUND = 'This item is not in the order.';

export function sessionNotFound(): Refusal {
  return new Refusal(404, SESSION_NOT_FOUND);
}
