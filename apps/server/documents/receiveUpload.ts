import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { DOCUMENT_EMPTY, type DocumentType, nameFault, UPLOAD_FAILED } from '#documents/document.ts';
import { documentFaults } from '#documents/faults.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { type Arrived, StorageDown, StorageFull, type StoredFile } from '../providers/storage/storage.ts';
import { NoVerdict } from './scanner.ts';

export interface ReceivedUpload {
  file: StoredFile & { name: string; mediaType: DocumentType };
  /** The form's text fields by name, from before and after the file. */
  fields: Record<string, string>;
}

const NO_FILE = 'Please choose a file to upload.';
const ONE_FILE = 'Please upload one file at a time.';
const NOT_NOW = 'We cannot take files just now. Please try again in an hour, or email it to us.';
const NOT_SCANNED =
  'We cannot check files for viruses just now. Please try again in a few minutes, or email it to us.';
const INFECTED =
  'Our virus scanner found something in this file. Please upload another copy, or a clear photo of it.';
const NAME_MAX_LENGTH = 255;
const MOST_FIELDS = 10;
const MOST_FIELD_BYTES = 1000;
/** The most bytes that a form may have in addition to its file. */
const MOST_BESIDES_BYTES = 65_536;

/** Who sends an upload, and how they prove who they are. */
export interface Sender {
  /** Returns a name for the sender. If several uploads have the same sender's name, their files are inspected one after another. */
  name(fields: Record<string, string>): string;
  /** The check of form fields that prove who sends the upload; absent if no such fields are needed. */
  proof?: {
    fields: readonly string[];
    /**
     * Throws a {@link Refusal} if the fields do not prove who sends the upload. Called before the file is received if all `fields`
     * came before the file in the form; otherwise when the file has been received, before its inspection.
     */
    check(fields: Record<string, string>): Promise<void>;
  };
}

/**
 * Streams the one file of a form into the storage, in constant memory, and collects the text fields. Checks run in the order of
 * their cost: size, free space, sender, content. A refused or incomplete file is removed. When the promise resolves, the bytes are
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
    const name = safeName(part.filename);
    const refused = nameFault(name);
    if (refused !== null) throw new Refusal(415, refused);
    if (sender.proof?.fields.every((field) => field in fields)) await prove();
    const stored = await store(deps, part, Number.isNaN(length) ? null : length, async (file) => {
      if (part.file.truncated) throw tooLarge(uploadMaxBytes!);
      // Reads the rest of the form before the sender is checked, because the fields that prove the sender may come after the file.
      if (await restOf(nextFile(parts, fields))) throw new Refusal(400, ONE_FILE);
      await prove();
      const mediaType = await inspect(deps, file, sender.name(fields));
      await scan(deps, file.pieces());
      return mediaType;
    });
    return { file: { ...stored, name }, fields };
  } catch (error) {
    // Browsers read an answer only when they have sent the whole body, so the rest is read and discarded.
    request.raw.unpipe();
    request.raw.resume();
    if (error instanceof Refusal) throw error;
    if (error instanceof StorageFull) throw isFull(deps);
    if (error instanceof StorageDown) throw isDown(deps, error);
    if (error instanceof StorageFault) throw error.cause;
    // Any other error means that the form is malformed or incomplete.
    throw new Refusal(400, UPLOAD_FAILED);
  }
}

/** Returns the next file of the form; null if there is none. Collects the text fields before it in `fields`. */
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

async function inspect(
  deps: Deps,
  { path, sizeBytes, dataKey }: Arrived,
  sender: string,
): Promise<DocumentType> {
  const inspection = await deps.inspector.inspect(
    { path, sizeBytes, dataKey: dataKey && { key: dataKey.key.toString('hex'), name: dataKey.name } },
    sender,
  );
  if ('type' in inspection) return inspection.type;
  if (inspection.fault === 'unchecked')
    deps.log.error({ sizeBytes }, 'an upload was refused: looking at it took too long');
  const sentence = documentFaults[inspection.fault];
  throw new Refusal(sentence === DOCUMENT_EMPTY ? 400 : 415, sentence);
}

function isFull({ log }: Deps): Refusal {
  log.error({}, 'an upload was refused: the disk of the documents is full');
  return new Refusal(503, NOT_NOW, { retryAfter: 3600 });
}

function isDown({ log }: Deps, err: StorageDown): Refusal {
  log.error({ err }, 'an upload was refused: the storage of the documents does not answer');
  return new Refusal(503, NOT_NOW, { retryAfter: 300 });
}

/** Scans a file for viruses. Refuses it if a virus is found or the scanner gives no verdict. */
async function scan({ scanner, log }: Deps, bytes: AsyncIterable<Buffer>): Promise<void> {
  if (scanner === null) return;
  let found: string | null;
  try {
    found = await scanner.scan(bytes);
  } catch (error) {
    if (!(error instanceof NoVerdict)) throw error;
    log.error({ err: error }, 'an upload was refused: the virus scanner gave no verdict');
    throw new Refusal(503, NOT_SCANNED, { retryAfter: 300 });
  }
  if (found === null) return;
  log.warn({ found }, 'an upload was refused: the virus scanner found something');
  throw new Refusal(415, INFECTED);
}

/** An error of ours while a file is stored, which must not be answered as a malformed form. */
class StorageFault extends Error {}

/** Stores a file. `look` inspects it first and returns its type. */
async function store(
  deps: Deps,
  { file: bytes }: MultipartFile,
  expectedBytes: number | null,
  look: (file: Arrived) => Promise<DocumentType>,
): Promise<StoredFile & { mediaType: DocumentType }> {
  let mediaType: DocumentType | undefined;
  try {
    const stored = await deps.storage.put(
      bytes,
      async (file) => {
        mediaType = await look(file);
      },
      expectedBytes,
    );
    return { ...stored, mediaType: mediaType! };
  } catch (error) {
    const isOurs = ![Refusal, StorageFull, StorageDown].some((kind) => error instanceof kind);
    throw isOurs && bytes.errored === null
      ? new StorageFault('storing an upload failed', { cause: error })
      : error;
  }
}

function tooLarge(uploadMaxBytes: number): Refusal {
  const megabytes = Math.floor(uploadMaxBytes / 1_048_576);
  return new Refusal(413, `This file is too large. The most is ${megabytes} MB.`);
}

/**
 * Returns a file name that is safe to display: without folders, control characters and changes of the text direction, and in
 * well-formed Unicode. It is never used as a path.
 */
function safeName(given: string | undefined): string {
  return (given ?? '')
    .replace(/^.*[/\\]/s, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')
    .trim()
    .slice(-NAME_MAX_LENGTH)
    .toWellFormed();
}
