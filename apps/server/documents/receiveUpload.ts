import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
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
      limits: { fields: 10, fieldSize: 1000, files: 2, parts: 12 },
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

/** A fault of ours, which must not pass for one of the form. */
class StorageFault extends Error {}

/** Waits for both ends, so that nothing is left half written when one of them fails. */
async function store(deps: Deps, bytes: Readable): Promise<StoredFile & { mediaType: DocumentType }> {
  const counted = new PassThrough();
  let mediaType: DocumentType | undefined;
  const [stored, sent] = await Promise.allSettled([
    deps.storage
      .put(counted, async ({ handle, sizeBytes }) => {
        mediaType = await inspectFile(handle, sizeBytes);
        await scan(deps, piecesOf(handle, 0, sizeBytes));
      })
      .catch((error: Error) => {
        const isOurs =
          !counted.errored && ![Refusal, StorageFull, StorageDown].some((kind) => error instanceof kind);
        counted.destroy(error);
        throw isOurs ? new StorageFault('storing an upload failed', { cause: error }) : error;
      }),
    pipeline(bytes, limitBytes(deps.config.uploadMaxBytes), counted),
  ]);
  if (stored.status === 'fulfilled' && sent.status === 'fulfilled')
    return { ...stored.value, mediaType: mediaType! };
  if (stored.status === 'fulfilled') await deps.storage.remove(stored.value.key);
  throw sent.status === 'rejected' && sent.reason instanceof Refusal
    ? sent.reason
    : ((stored as PromiseRejectedResult).reason ?? (sent as PromiseRejectedResult).reason);
}

function limitBytes(max: number | null) {
  return async function* (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (max !== null && bytes > max)
        throw new Refusal(413, `This file is too large. The most is ${Math.floor(max / 1_048_576)} MB.`);
      yield chunk;
    }
  };
}

/** A name for people: no folders, no control characters, well formed. Never used as a path. */
function safeName(given: string | undefined): string {
  const name = (given ?? '')
    .toWellFormed()
    .replace(/^.*[/\\]/, '')
    .replace(/\p{Cc}/gu, '')
    .trim();
  return name.length > NAME_MAX_LENGTH ? name.slice(-NAME_MAX_LENGTH) : name;
}
