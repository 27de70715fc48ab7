import type { Answered, Params } from '#contract/schemas.ts';
import { sentenceOfProxy } from '#core/sentences.ts';
import { progressPercent, UPLOAD_FAILED, uploadCut, uploadTooLarge } from '#documents/document.ts';
import { raiseUnsent, readAnswer, unsent, urlOf } from './api.ts';
import { Late, PATIENCE_MS } from './within.ts';

type UploadName = 'uploadTranscript' | 'uploadByLink' | 'uploadResume';

/**
 * Uploads a file and reports its progress in whole percent. Uses XMLHttpRequest, since fetch reports no upload progress. The fields
 * come before the file, so that the server has received them when the file begins. An upload that makes no progress, or gets no
 * answer, ends after `PATIENCE_MS`.
 */
export function upload<Name extends UploadName>(
  name: Name,
  {
    params,
    fields = {},
    file,
    onProgress,
    signal,
  }: {
    params?: Params<Name>;
    fields?: Record<string, string>;
    file: File;
    onProgress: (percent: number) => void;
    signal: AbortSignal;
  },
): Promise<Answered<Name>> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', urlOf(name, params as Record<string, string> | undefined));
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
    const fail = (cause?: unknown) => {
      raiseUnsent();
      reject(unsent(cause, sentBytes > 0 ? uploadCut(file.size) : UPLOAD_FAILED));
    };
    request.onloadend = () => clearTimeout(stalled);
    request.upload.onprogress = ({ loaded, total }) => {
      wait();
      sentBytes = loaded;
      onProgress(progressPercent(loaded, total));
    };
    request.onload = () => {
      try {
        const retryAfter = request.getResponseHeader('retry-after');
        const ofProxy = (status: number) => sentenceOfUpload(status, file.size);
        // The page says below the form why a file is refused (415).
        resolve(readAnswer(name, request.status, request.response, { quiet: 415, ofProxy, retryAfter }));
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

function sentenceOfUpload(status: number, sizeBytes: number): string {
  if (status === 413) return uploadTooLarge(sizeBytes);
  return [UPLOAD_FAILED, sentenceOfProxy(status)].filter(Boolean).join(' ');
}
