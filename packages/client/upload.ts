import type { CallName } from '#contract/calls.ts';
import type { Answered, Params } from '#contract/schemas.ts';
import { sentenceOfProxy } from '#core/sentences.ts';
import type { Client } from './client.ts';
import { unsent } from './exchange.ts';
import { readAnswer } from './readAnswer.ts';
import { Late, PATIENCE_MS } from './within.ts';

/** The app's sentences for an upload that failed on the way. The two functions get the file's size in bytes. */
export interface UploadSentences {
  failed: string;
  /** For a connection that was cut. */
  cut: (bytes: number) => string;
  /** For a file that a proxy refused as too large (413). */
  tooLarge: (bytes: number) => string;
}

interface Sending {
  fields?: Record<string, string>;
  file: File;
  /** Called with the progress in whole percent. */
  onProgress: (percent: number) => void;
  signal: AbortSignal;
}

/** Makes the function that uploads a file for an app. */
export function createUpload({ reporting, urlOf }: Client, sentences: UploadSentences) {
  /**
   * Uploads a file by a call and returns the answer's `data`. A failure throws `ApiError` or `Unsent` and shows a toast. No toast
   * is shown for a refused file (415), because the page shows the reason below the form.
   */
  return function upload<Name extends CallName>(
    name: Name,
    { params, ...sending }: Sending & { params?: Params<Name> },
  ): Promise<Answered<Name>> {
    const url = urlOf(name, params as Record<string, string> | undefined);
    return reporting(send(name, url, sending, sentences), { quiet: 415, signal: sending.signal });
  };
}

/**
 * Uses XMLHttpRequest, since fetch reports no upload progress. The fields are sent before the file, so that the server has them
 * when the file begins. An upload is aborted after `PATIENCE_MS` without progress or without an answer.
 */
function send<Name extends CallName>(
  name: Name,
  url: string,
  { fields = {}, file, onProgress, signal }: Sending,
  { failed, cut, tooLarge }: UploadSentences,
): Promise<Answered<Name>> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', file);
  const ofProxy = (status: number) =>
    status === 413 ? tooLarge(file.size) : [failed, sentenceOfProxy(status)].filter(Boolean).join(' ');
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    request.withCredentials = true;
    request.responseType = 'json';
    let sentBytes = 0;
    let stalled: ReturnType<typeof setTimeout>;
    const wait = () => {
      clearTimeout(stalled);
      stalled = setTimeout(() => {
        fail(new Late());
        request.abort();
      }, PATIENCE_MS);
    };
    const fail = (cause?: unknown) => reject(unsent(cause, sentBytes > 0 ? cut(file.size) : failed));
    request.onloadend = () => clearTimeout(stalled);
    request.upload.onprogress = ({ loaded, total }) => {
      wait();
      sentBytes = loaded;
      onProgress(progressPercent(loaded, total));
    };
    request.onload = () => {
      try {
        const retryAfter = request.getResponseHeader('retry-after');
        resolve(readAnswer(name, request.status, request.response, retryAfter, ofProxy));
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = () => fail();
    request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    wait();
    request.send(form);
  });
}

/** Returns the progress of an upload in whole percent (specification, section 4); 0 while the total is unknown. */
export function progressPercent(loadedBytes: number, totalBytes: number): number {
  return totalBytes > 0 ? Math.min(100, Math.round((loadedBytes / totalBytes) * 100)) : 0;
}
