import type { Data, Params } from '#contract/schemas.ts';
import { progressPercent } from '#core/document.ts';
import { raiseUnsent, readAnswer, Unsent, urlOf } from './api.ts';

type UploadName = 'uploadTranscript' | 'uploadByLink' | 'uploadResume';

/**
 * Sends one file with its progress in whole percent. XMLHttpRequest, because fetch tells nothing about what was sent.
 * Fields go before the file, so that the server knows them before the file's first byte.
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
): Promise<Data<Name>> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', urlOf(name, params as Record<string, string> | undefined));
    request.withCredentials = true;
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(progressPercent(loaded, total));
    request.onload = () => {
      try {
        resolve(readAnswer<Name>(request.status, request.response));
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = () => {
      raiseUnsent();
      reject(new Unsent('The file could not be sent.'));
    };
    request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}
