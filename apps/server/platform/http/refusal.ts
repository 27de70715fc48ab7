/** An expected failure with its HTTP status and sentence. Any other thrown error is a fault of ours: 500. */
export class Refusal extends Error {
  readonly status: number;
  /** Field name → sentence. */
  readonly errors: Record<string, string> | undefined;
  /** Where the session goes on, when the call does not fit its state. */
  readonly goOn: string | undefined;
  /** What a page can act on: `Failure['code']` of the contract. */
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

  /** What a joiner reads. */
  get sentence(): string {
    return this.message;
  }
}

export const SESSION_NOT_FOUND = 'This join session was not found. Please start over.';

export const LINE_NOT_FOUND = 'This item is not in the order.';

export function sessionNotFound(): Refusal {
  return new Refusal(404, SESSION_NOT_FOUND);
}
