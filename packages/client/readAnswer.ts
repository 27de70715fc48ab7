import { type CallName, calls, specifiedCalls } from '#contract/calls.ts';
import type { Answered, Failure } from '#contract/schemas.ts';
import { sentenceOfProxy } from '#core/sentences.ts';
import { ApiError, NotOffered } from './failures.ts';

type Json = Record<string, unknown>;

/**
 * Returns the `data` of a response. Throws `ApiError` for a failure. `answer` is the parsed body; null if it was not JSON.
 * `retryAfter` is the value of the header Retry-After, in seconds. `ofProxy` returns the sentence for the status of an answer
 * that comes from a proxy.
 */
export function readAnswer<Name extends CallName>(
  name: Name,
  status: number,
  answer: unknown,
  retryAfter: string | null = null,
  ofProxy: (status: number) => string | undefined = sentenceOfProxy,
): Answered<Name> {
  const isJson = typeof answer === 'object' && answer !== null;
  const body = (isJson ? answer : { message: ofProxy(status) }) as Json;
  if (status === 404 && !body.code && !isSpecified(name)) throw new NotOffered(calls[name].path, status, {});
  if (isJson && status >= 200 && status < 300) {
    // In the specification's table, some answers have their fields without a `data` around them.
    const data = (body.data ?? body) as Json;
    if (isSuccess(name, body, data)) return data as Answered<Name>;
  }
  const seconds = Number(retryAfter);
  throw new ApiError(calls[name].path, status, body as Partial<Failure>, seconds > 0 ? seconds * 1000 : 0);
}

function isSpecified(name: CallName): boolean {
  return (specifiedCalls as readonly CallName[]).includes(name);
}

/** Whether a 2xx answer is a success, by the fields that the specification's table names for the call. */
function isSuccess(name: CallName, body: Json, data: Json): boolean {
  if (name === 'deleteSessionProduct') return (data.status ?? body.status) === 'success';
  if (name === 'submitDetails' || name === 'uploadTranscript') return (body.success ?? data.success) === true;
  // All answers of our server have `success`. A `begin-payment` without it is a failure, so that nothing is charged.
  if (!isSpecified(name)) return body.success === true;
  return body.success !== false && body.status !== 'error';
}
