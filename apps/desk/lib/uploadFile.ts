import { addressOf } from '#client/deskClient.ts';
import { unsent } from '#client/exchange.ts';
import { ApiError, type Unsent } from '#client/failures.ts';
import { deskCalls } from '#contract/deskCalls.ts';
import type { DeskData, DeskQuery } from '#contract/deskSchemas.ts';
import type { Failure } from '#contract/schemas.ts';
import { sentenceOfProxy } from '#core/sentences.ts';
import { isSignedOut } from './me.ts';
import { signInAgain } from './signInAgain.ts';

type Upload = 'uploadInvitations' | 'uploadContacts';

/**
 * Sends a file, and returns the call's `data`. `onProgress` gets the sent part of the file, from 0 to 1. Throws `ApiError` for a
 * failure, `Unsent` without an answer. Uses XMLHttpRequest, since fetch reports no upload progress.
 */
export async function uploadFile<Name extends Upload>(
  name: Name,
  query: DeskQuery<Name>,
  file: File,
  onProgress: (share: number) => void,
): Promise<DeskData<Name>> {
  try {
    return await send(name, query, file, onProgress);
  } catch (error) {
    if (!isSignedOut(error) || !(await signInAgain.ask())) throw error;
    return send(name, query, file, onProgress);
  }
}

function send<Name extends Upload>(
  name: Name,
  query: DeskQuery<Name>,
  file: File,
  onProgress: (share: number) => void,
): Promise<DeskData<Name>> {
  const { method, path } = deskCalls[name];
  return new Promise((resolve, reject: (error: ApiError | Unsent) => void) => {
    const request = new XMLHttpRequest();
    request.open(method, addressOf(name, {}, given(query as object)));
    request.responseType = 'json';
    request.setRequestHeader('content-type', 'text/csv');
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      const { status, response } = request;
      const answer = (response ?? { message: sentenceOfProxy(status) }) as { data?: DeskData<Name> };
      if (status === 200 && answer.data) resolve(answer.data);
      else reject(new ApiError(path, status, answer as Partial<Failure>));
    };
    request.onerror = () => reject(unsent(undefined, 'The file did not arrive. Please try again.'));
    request.send(file);
  });
}

/** Returns the parameters of a query that are neither missing nor empty. */
function given(query: object): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== ''));
}
