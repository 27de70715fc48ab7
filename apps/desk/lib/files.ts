import { unsent } from '#client/exchange.ts';
import { ApiError } from '#client/failures.ts';
import { deskCalls } from '#contract/deskCalls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { filledIn } from '#contract/filledIn.ts';
import type { Failure } from '#contract/schemas.ts';
import { sentenceOfProxy } from '#core/sentences.ts';
import { orSignInAgain } from './call.ts';

type Query = Record<string, string>;

/** Sends a file as the request's body. Throws `ApiError` for a failure, `Unsent` without an answer. */
export function sendFile(
  name: 'addTranscript',
  params: { id: string },
  file: File,
  query: Query,
): Promise<DeskData<'addTranscript'>> {
  const headers = { 'content-type': 'application/octet-stream' };
  return orSignInAgain(async () => {
    const response = await ask(name, params, query, { method: 'POST', body: file, headers });
    return ((await response.json()) as { data: DeskData<'addTranscript'> }).data;
  });
}

async function ask(
  name: 'addTranscript',
  params: { id: string },
  query: Query,
  init: RequestInit = {},
): Promise<Response> {
  const { path } = deskCalls[name];
  let response: Response;
  try {
    response = await fetch(`${filledIn(path, params)}?${new URLSearchParams(query)}`, init);
  } catch (cause) {
    throw unsent(cause);
  }
  if (response.ok) return response;
  const answer = (await response.json().catch(() => null)) as Partial<Failure> | null;
  throw new ApiError(path, response.status, answer ?? { message: sentenceOfProxy(response.status) ?? '' });
}
