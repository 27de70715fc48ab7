import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { type DocumentType, nameFault, UPLOAD_FAILED } from '#core/document.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { StorageDown, StorageFull, type StoredFile } from '../storage/storage.ts';
import { inspectFile, piecesOf } from './inspectFile.ts';
import { NoVerdict } from './scanner.ts';

export interface ReceivedUpload {
  file: StoredFile & { name: string; mediaType: DocumentType };
  /** The text fields of the form, in whatever order they came. */
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

/**
 * Streams a form's one file into storage in constant memory and gathers its text fields. Anything refused, by name, size
 * or content, or cut off leaves nothing behind. The bytes are safe when this answers; the caller writes the row or
 * removes them.
 */
export async function receiveUpload(deps: Deps, request: FastifyRequest): Promise<ReceivedUpload> {
  if (!request.isMultipart()) throw new Refusal(415, NO_FILE);
  if (Number(request.headers['content-length'] ?? 0) > (await deps.storage.room())) throw isFull(deps);
  const fields: Record<string, string> = {};
  let file: ReceivedUpload['file'] | undefined;
  try {
    for await (const part of request.parts({
      limits: {
        fields: 10,
        fieldSize: 1000,
        files: 2,
        parts: 12,
        fileSize: deps.config.uploadMaxBytes ?? Number.POSITIVE_INFINITY,
      },
    })) {
      if (part.type === 'field') {
        fields[part.fieldname] = String(part.value);
        continue;
      }
      if (file) throw new Refusal(400, ONE_FILE);
      const name = safeName(part.filename);
      const refused = nameFault(name);
      if (refused !== null) throw new Refusal(415, refused);
      file = { ...(await store(deps, part.file)), name };
    }
  } catch (error) {
    if (file) await deps.storage.remove(file.key);
    if (error instanceof Refusal) throw error;
    if (error instanceof StorageFull) throw isFull(deps);
    if (error instanceof StorageDown) throw isDown(deps, error);
    if (error instanceof StorageFault) throw error.cause;
    // All else is the form's: broken, or cut off.
    throw new Refusal(400, UPLOAD_FAILED);
  }
  if (!file) throw new Refusal(400, NO_FILE);
  return { file, fields };
}

function isFull({ log }: Deps): Refusal {
  log.error({}, 'an upload was refused: the disk of the documents is full');
  return new Refusal(503, NOT_NOW, { retryAfter: 3600 });
}

function isDown({ log }: Deps, err: StorageDown): Refusal {
  log.error({ err }, 'an upload was refused: the storage of the documents does not answer');
  return new Refusal(503, NOT_NOW, { retryAfter: 300 });
}

/** A file waits for its verdict; without one it is not taken. */
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

/** A part's bytes; `truncated` when they were more than may be. */
type PartStream = Readable & { truncated?: boolean };

/** A fault of ours, which must not pass for one of the form. */
class StorageFault extends Error {}

/** Keeps a part's bytes once their content was looked at. */
async function store(deps: Deps, bytes: PartStream): Promise<StoredFile & { mediaType: DocumentType }> {
  let mediaType: DocumentType | undefined;
  try {
    const stored = await deps.storage.put(bytes, async ({ handle, sizeBytes }) => {
      if (bytes.truncated) throw tooLarge(deps);
      mediaType = await inspectFile(handle, sizeBytes);
      await scan(deps, piecesOf(handle, 0, sizeBytes));
    });
    return { ...stored, mediaType: mediaType! };
  } catch (error) {
    const isOurs = ![Refusal, StorageFull, StorageDown].some((kind) => error instanceof kind);
    throw isOurs && bytes.errored === null
      ? new StorageFault('storing an upload failed', { cause: error })
      : error;
  }
}

function tooLarge({ config }: Deps): Refusal {
  const megabytes = Math.floor(config.uploadMaxBytes! / 1_048_576);
  return new Refusal(413, `This file is too large. The most is ${megabytes} MB.`);
}

/**
 * A name for people: no folders, nothing that a terminal obeys or that turns the direction of the text around, well
 * formed. Never used as a path.
 */
function safeName(given: string | undefined): string {
  return (given ?? '')
    .replace(/^.*[/\\]/s, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')
    .trim()
    .slice(-NAME_MAX_LENGTH)
    .toWellFormed();
}
