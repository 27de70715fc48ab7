import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { UPLOAD_FAILED } from '#documents/document.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { isFull, StorageFault, type StoredDocument, storeFile, tooLarge } from './storeFile.ts';

export interface ReceivedUpload {
  file: StoredDocument;
  /** The form's text fields by name, from before and after the file. */
  fields: Record<string, string>;
}

const NO_FILE = 'Please choose a file to upload.';
const ONE_FILE = 'Please upload one file at a time.';
const MOST_FIELDS = 10;
const MOST_FIELD_BYTES = 1000;
/** The maximum number of bytes that a form may have in addition to its file. */
const MOST_BESIDES_BYTES = 65_536;

/** The sender of an upload, and the proof of who it is. */
export interface Sender {
  /** Returns a key that tells senders apart. The files of one sender are inspected one at a time. */
  name(fields: Record<string, string>): string;
  /** The form fields that prove who sends the upload, and the function that checks them; absent if no proof is needed. */
  proof?: {
    fields: readonly string[];
    /**
     * Throws a {@link Refusal} if the fields do not prove who sends the upload. Called before the file is received, if all
     * `fields` precede the file in the form; otherwise after the file is received and before its inspection.
     */
    check(fields: Record<string, string>): Promise<void>;
  };
}

/**
 * Streams the form's only file into the storage, in constant memory, and collects the text fields. The cheapest check comes
 * first: size, free space, sender, content. A refused or incomplete file is removed. When the promise resolves, the bytes are
 * stored durably; the caller must insert the row.
 */
export async function receiveUpload(
  deps: Deps,
  request: FastifyRequest,
  sender: Sender,
): Promise<ReceivedUpload> {
  if (!request.isMultipart()) throw new Refusal(415, NO_FILE);
  const { uploadMaxBytes } = deps.config;
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (uploadMaxBytes !== null && length > uploadMaxBytes + MOST_BESIDES_BYTES) throw tooLarge(uploadMaxBytes);
  if (length > (await deps.storage.room())) throw isFull(deps);
  const fields: Record<string, string> = {};
  const parts = request.parts({
    // Without this option, a name loses everything before its last backslash. In most systems a backslash is an ordinary
    // character in file names.
    preservePath: true,
    limits: {
      fields: MOST_FIELDS,
      fieldSize: MOST_FIELD_BYTES,
      files: 2,
      parts: MOST_FIELDS + 2,
      fileSize: uploadMaxBytes ?? Number.POSITIVE_INFINITY,
    },
  });
  let isProven = sender.proof === undefined;
  const prove = async () => {
    if (!isProven) await sender.proof!.check(fields);
    isProven = true;
  };
  try {
    const part = await nextFile(parts, fields);
    if (!part) throw new Refusal(400, NO_FILE);
    if (sender.proof?.fields.every((field) => field in fields)) await prove();
    const file = await storeFile(deps, {
      name: givenName(part.filename),
      bytes: part.file,
      expectedBytes: Number.isNaN(length) ? null : length,
      sender: () => sender.name(fields),
      async check() {
        if (part.file.truncated) throw tooLarge(uploadMaxBytes!);
        // Reads the rest of the form before the sender is checked, because the fields that the check needs may come after the
        // file.
        if (await restOf(nextFile(parts, fields))) throw new Refusal(400, ONE_FILE);
        await prove();
      },
    });
    return { file, fields };
  } catch (error) {
    // A browser reads the answer only after it has sent the whole body, so the rest of the body is read and discarded.
    request.raw.unpipe();
    request.raw.resume();
    if (error instanceof Refusal) throw error;
    if (error instanceof StorageFault) throw error.cause;
    // Any other error means that the form is malformed or incomplete.
    throw new Refusal(400, UPLOAD_FAILED);
  }
}

/**
 * Returns a file's name as the sender typed it. Browsers escape three characters of it: quotes, CR and LF (WHATWG, HTML,
 * "multipart form data").
 */
function givenName(fileName = ''): string {
  return fileName.replace(/%(22|0D|0A)/gi, decodeURIComponent);
}

/** Returns the next file of the form; null if there is none. Collects in `fields` the text fields that precede the file. */
async function nextFile(
  parts: AsyncIterator<Multipart>,
  fields: Record<string, string>,
): Promise<MultipartFile | null> {
  for (;;) {
    const { value: part, done } = await parts.next();
    if (done) return null;
    if (part.type === 'file') return part;
    fields[part.fieldname] = String(part.value);
  }
}

/** Reads the rest of a form. An error means that the form is malformed or incomplete, and is answered with 400. */
async function restOf<T>(rest: Promise<T>): Promise<T> {
  return rest.catch((error: unknown) => {
    throw error instanceof Refusal ? error : new Refusal(400, UPLOAD_FAILED);
  });
}
