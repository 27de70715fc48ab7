import { ApiError, messageOf, retryMsOf } from '#client/failures.ts';
import {
  ACCEPTED_DOCUMENTS,
  acceptedDocuments,
  DOCUMENT_EMPTY,
  DOCUMENT_UNREADABLE,
  fileTooLarge,
  NOT_A_FILE,
  otherEndings,
  othersLeftOut,
  sizeInKilobytes,
  UPLOAD_FAILED,
} from '#documents/document.ts';
import { type Send, UploadArea, UploadedList, type UploadFailure } from '#ui/UploadArea.tsx';
import { useSite } from '../lib/site.ts';
import { retryWords } from './TryAgain.tsx';

const documents = {
  transcript: {
    drop: 'Drop your transcript here',
    touch: 'A photo or file of your transcript',
    input: 'Choose your transcript',
  },
  resume: {
    drop: 'Drop your resume here',
    touch: 'A photo or file of your resume',
    input: 'Choose your resume',
  },
};
const words = {
  or: 'or',
  choose: 'Choose a file',
  types: `${ACCEPTED_DOCUMENTS}. One file.`,
  checking: '100%, now it is being checked…',
  cancel: 'Cancel',
  uploading: (name: string) => `Uploading ${name}`,
  uploaded: (name: string) => `${name} was uploaded.`,
  othersLeftOut,
  notAFile: NOT_A_FILE,
  retry: retryWords,
};

/** The file types that the file dialog offers first. HEIC is left out, so that iPhones convert photos to JPEG. */
const ACCEPT = [...Object.entries(acceptedDocuments).flat(2), ...otherEndings].join(',');

/** The area where a joiner uploads a document. `send` is not called for a file whose first bytes show that it is no document. */
export function DocumentUpload({
  document,
  send,
  onLeftOut,
}: {
  document: keyof typeof documents;
  send: Send;
  onLeftOut?: (sentence: string | null) => void;
}) {
  const { uploadMaxBytes } = useSite();
  return (
    <UploadArea
      words={{ ...words, ...documents[document] }}
      accept={ACCEPT}
      refusalOf={({ size }) => {
        if (size === 0) return DOCUMENT_EMPTY;
        return uploadMaxBytes !== null && size > uploadMaxBytes ? fileTooLarge(uploadMaxBytes) : null;
      }}
      send={async (file, onProgress, signal) => {
        const fault = await contentFault(file);
        if (fault) throw new NoDocument(fault);
        if (!signal.aborted) await send(file, onProgress, signal);
      }}
      failureOf={failureOf}
      onLeftOut={onLeftOut}
    />
  );
}

/** Thrown for a file that is not an accepted document. The message is a sentence for the joiner. */
class NoDocument extends Error {}

/** Thrown when the server refused the file. The message is a sentence for the joiner. */
export class Refused extends Error {}

function failureOf(error: unknown): UploadFailure {
  const isOurs = error instanceof NoDocument || error instanceof Refused;
  return {
    message: messageOf(error, isOurs ? error.message : UPLOAD_FAILED),
    isRefused: error instanceof NoDocument || (error instanceof ApiError && error.status === 415),
    retryMs: retryMsOf(error),
  };
}

/**
 * Checks a file's first bytes before the upload. Returns the sentence for a fault, or for a file that was changed or removed
 * after it was chosen. Returns null if there is no fault, or if the browser cannot check.
 */
async function contentFault(file: File): Promise<string | null> {
  try {
    const { headFault, HEAD_BYTES } = await import('#documents/signature.ts');
    return headFault(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()), file.name);
  } catch (error) {
    const cannotRead =
      error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name);
    return cannotRead ? DOCUMENT_UNREADABLE : null;
  }
}

/** An uploaded document; `size` is in bytes. */
export interface UploadedDocument {
  name: string;
  size: number;
}

export function UploadedDocuments({ files }: { files: readonly UploadedDocument[] }) {
  const shown = files.map(({ name, size }) => ({ name, size: sizeInKilobytes(size) }));
  return <UploadedList label="Uploaded files" files={shown} />;
}
