/** An error in the form in which the provider's API returns it (https://docs.stripe.com/api/errors). */
export interface ErrorBody {
  type: 'invalid_request_error' | 'card_error' | 'api_error' | 'idempotency_error';
  message: string;
  code?: string;
  param?: string;
  decline_code?: string;
  charge?: string;
  [detail: string]: unknown;
}

export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  /** Whether the work of the request had begun when it was refused. If not, another request can use the same idempotency key. */
  readonly beganWork: boolean;

  constructor(status: number, body: ErrorBody, beganWork = true) {
    super(body.message);
    this.status = status;
    this.body = body.code
      ? { ...body, doc_url: `https://docs.stripe.com/error-codes/${body.code.replaceAll('_', '-')}` }
      : body;
    this.beganWork = beganWork;
  }
}

/** Returns the error 400 for a parameter that is invalid. Such an answer is not stored under the request's idempotency key. */
export function invalid(message: string, param?: string, code?: string): ApiError {
  return new ApiError(
    400,
    { type: 'invalid_request_error', message, ...(param && { param }), ...(code && { code }) },
    false,
  );
}

/** Returns the error 400 for a request that is well-formed but not allowed in the object's current state. */
export function refused(message: string, code?: string, details: Record<string, unknown> = {}): ApiError {
  return new ApiError(400, { type: 'invalid_request_error', message, ...(code && { code }), ...details });
}

export function missing(what: string, id: string, param: string): ApiError {
  // An unknown id is answered with 404 if it is in the path, and with 400 if it is in a parameter.
  const status = param === 'id' || param === 'intent' || param === 'webhook_endpoint' ? 404 : 400;
  return new ApiError(status, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${what}: '${id}'`,
    param,
  });
}

export function unauthorized(message: string): ApiError {
  return new ApiError(401, { type: 'invalid_request_error', message }, false);
}

/** Returns the emulator's error for features that it does not support. It never guesses an answer. */
export function notEmulated(what: string): ApiError {
  return new ApiError(
    501,
    { type: 'api_error', message: `The emulator does not stand in for ${what}.` },
    false,
  );
}
