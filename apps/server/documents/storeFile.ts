import type { Readable } from 'node:stream';
import { type DocumentType, documentName, fileTooLarge } from '#documents/document.ts';
import { faultSentence } from '#documents/faults.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { type Arrived, StorageDown, StorageFull, type StoredFile } from '../providers/storage/storage.ts';
import type { Deps } from './deps.ts';
import { NoVerdict } from './scanner.ts';

const NOT_NOW = 'We cannot accept files right now. Please try again in an hour, or email it to us.';
const NOT_SCANNED =
  'We cannot check files for viruses right now. Please try again in a few minutes, or email it to us.';
const INFECTED =
  'Our virus scanner found something in this file. Please upload another copy, or a clear photo of it.';

/** A file whose bytes are stored, and which has no row yet. */
export interface StoredDocument extends StoredFile {
  name: string;
  mediaType: DocumentType;
}

export interface Incoming {
  /** The name that the sender gave. */
  name: string;
  bytes: Readable;
  /** The number of bytes; null if it is not known. */
  expectedBytes: number | null;
  /** Returns a name that tells senders apart. Files whose senders have the same name are inspected one after another. */
  sender(): string;
  /**
   * Called when all bytes have arrived, before the file is inspected. Throws a {@link Refusal} if the file is not to be stored.
   */
  check(file: Arrived): Promise<void>;
}

/** An internal error while a file is stored. It must not be reported as a fault of the file or of its sender. */
export class StorageFault extends Error {}

/**
 * Inspects, scans and stores a file, in constant memory. When the promise resolves, the bytes are stored durably, and the caller
 * must insert the row. If it throws, nothing is stored:
 * - {@link Refusal}, with a sentence for the applicant: the file is not accepted, or cannot be stored now.
 * - The error of `bytes`: reading failed.
 * - {@link StorageFault}: any other internal error.
 */
export async function storeFile(deps: Deps, incoming: Incoming): Promise<StoredDocument> {
  const { name, bytes, expectedBytes } = incoming;
  let mediaType: DocumentType | undefined;
  try {
    const stored = await deps.storage.put(
      bytes,
      async (file) => {
        await incoming.check(file);
        mediaType = await inspect(deps, file, incoming);
        await scan(deps, file.pieces());
      },
      expectedBytes,
    );
    return { ...stored, name: documentName(name, mediaType!), mediaType: mediaType! };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof StorageFull) throw isFull(deps);
    if (error instanceof StorageDown) throw isDown(deps, error);
    throw bytes.errored === null ? new StorageFault('storing a file failed', { cause: error }) : error;
  }
}

async function inspect(
  deps: Deps,
  { path, sizeBytes, dataKey }: Arrived,
  { name, sender }: Incoming,
): Promise<DocumentType> {
  const inspection = await deps.inspector.inspect(
    { path, sizeBytes, dataKey: dataKey && { key: dataKey.key.toString('hex'), name: dataKey.name } },
    sender(),
  );
  if ('type' in inspection) return inspection.type;
  if (inspection.fault === 'unchecked')
    deps.log.error({ sizeBytes }, 'an upload was refused: looking at it took too long');
  throw new Refusal(inspection.fault === 'empty' ? 400 : 415, faultSentence(inspection.fault, name));
}

/** Scans a file for viruses. Throws a {@link Refusal} if a virus is found or the scanner gives no verdict. */
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

export function isFull({ log }: Deps): Refusal {
  log.error({}, 'an upload was refused: the disk of the documents is full');
  return new Refusal(503, NOT_NOW, { retryAfter: 3600 });
}

function isDown({ log }: Deps, err: StorageDown): Refusal {
  log.error({ err }, 'an upload was refused: the storage of the documents does not answer');
  return new Refusal(503, NOT_NOW, { retryAfter: 300 });
}

export function tooLarge(uploadMaxBytes: number): Refusal {
  return new Refusal(413, fileTooLarge(uploadMaxBytes));
}
