import { randomUUID } from 'node:crypto';

export interface ErrorDetail {
  message: string;
  code?: string;
  context?: Record<string, string[]>;
}

/** An error in the form in which the CRM returns it (components/schemas/Error of its specification). */
export class CrmError extends Error {
  readonly status: number;
  readonly category: string;
  readonly details: ErrorDetail[];
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    category: string,
    message: string,
    details: ErrorDetail[] = [],
    extra: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.status = status;
    this.category = category;
    this.details = details;
    this.extra = extra;
    this.headers = headers;
  }

  get body(): object {
    return {
      status: 'error',
      message: this.message,
      correlationId: randomUUID(),
      category: this.category,
      ...(this.details.length > 0 && { errors: this.details }),
      ...this.extra,
    };
  }
}

export function invalid(message: string, details: ErrorDetail[] = []): CrmError {
  return new CrmError(400, 'VALIDATION_ERROR', message, details);
}

/** A property whose value the CRM refuses, and why. */
export interface Refusal {
  name: string;
  error: string;
  message: string;
}

/** Returns the error for invalid properties. Its message contains the refusals as JSON. */
export function invalidProperties(refusals: readonly Refusal[]): CrmError {
  const listed = refusals.map(({ name, error, message }) => ({
    isValid: false,
    message,
    error,
    name,
    localizedErrorMessage: message,
  }));
  return invalid(
    `Property values were not valid: ${JSON.stringify(listed)}`,
    refusals.map(({ name, error, message }) => ({ message, code: error, context: { propertyName: [name] } })),
  );
}

export function notFound(): CrmError {
  return new CrmError(404, 'OBJECT_NOT_FOUND', 'resource not found');
}

export function conflict(existing: string): CrmError {
  return new CrmError(409, 'CONFLICT', `Contact already exists. Existing ID: ${existing}`);
}

/** Returns the emulator's error for features that it does not support. It never guesses an answer. */
export function notEmulated(what: string): CrmError {
  return new CrmError(501, 'NOT_EMULATED', `The emulator does not stand in for ${what}.`);
}
