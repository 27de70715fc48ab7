import { NO_ANSWER } from '#core/sentences.ts';
import { Unsent } from './failures.ts';
import { Late, within } from './within.ts';

/** The response to a request. */
export interface Arrived {
  status: number;
  /** The parsed body; null if it was not JSON, for example a proxy's page. */
  answer: unknown;
  /** The body of a successful answer, if a file was requested. */
  bytes?: ArrayBuffer;
  /** The value of the header Retry-After, in seconds. */
  retryAfter: string | null;
}

/** Sends a request with a JSON body, or with none, and awaits the whole answer. Throws {@link Unsent} if none arrives. */
export async function exchange(
  url: string,
  {
    method,
    body,
    signal,
    isFile = false,
  }: { method: 'GET' | 'POST'; body?: unknown; signal?: AbortSignal | undefined; isFile?: boolean },
): Promise<Arrived> {
  const asked = (ended: AbortSignal) =>
    fetch(url, {
      method,
      credentials: 'include',
      signal: ended,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  try {
    return await within(async (ended) => {
      const response = await asked(ended);
      const retryAfter = response.headers.get('retry-after');
      // Reading the body rejects if the connection breaks or the call is aborted. The request then counts as unanswered.
      if (isFile && response.ok)
        return { status: response.status, answer: null, bytes: await response.arrayBuffer(), retryAfter };
      const text = await response.text();
      return { status: response.status, answer: jsonOf(text), retryAfter };
    }, signal);
  } catch (cause) {
    throw unsent(cause);
  }
}

/** Returns the error of a request without an answer. `userMessage` is the sentence to show if the cause is not a timeout. */
export function unsent(cause: unknown, userMessage?: string): Unsent {
  return new Unsent(cause, cause instanceof Late ? NO_ANSWER : userMessage);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
