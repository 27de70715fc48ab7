import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { S3Error } from './errors.ts';

/** The minimum size of every part but the last (bytes; https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html). */
const SMALLEST_PART_BYTES = 5 * 1_048_576;
const MOST_PARTS = 10_000;

export interface StoredObject {
  etag: string;
  size: number;
  modified: Date;
  headers: Record<string, string>;
  path: string;
}
interface Part {
  etag: string;
  size: number;
  /** The checksum in Base64, as the client sent it; undefined when it sent none. */
  crc32: string | undefined;
  path: string;
}
export interface PendingUpload {
  id: string;
  key: string;
  initiated: Date;
  /** Whether each part must come with a checksum. */
  checksum: boolean;
  headers: Record<string, string>;
  parts: Map<number, Part>;
}
/** A part of an upload, as listed in the request that completes the upload. */
export interface NamedPart {
  number: number;
  etag: string;
  crc32: string | undefined;
}

/** One bucket: objects and unfinished uploads, with their bytes in a folder. */
export class Bucket {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, PendingUpload>();
  /**
   * The settings that the bucket reports: its versioning, and after how many days a lifecycle rule deletes noncurrent versions.
   * Each is null if it was not set. The emulator itself keeps no versions.
   */
  versioning: 'Enabled' | 'Suspended' | null = null;
  noncurrentDays: number | null = null;
  /**
   * The checksums that the service accepts. `all`: every checksum, as Amazon S3 does. `parts`: refuses to complete an upload
   * whose parts have checksums, as Google Cloud Storage does. `none`: refuses every request with a checksum header, as Backblaze
   * B2 does.
   */
  checksums: 'all' | 'parts' | 'none' = 'all';
  readonly #folder: string;
  readonly #now: () => Date;

  constructor(folder: string, now: () => Date) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#now = now;
  }

  async put(key: string, bytes: Buffer, headers: Record<string, string>): Promise<string> {
    const path = this.#path();
    await writeFile(path, bytes);
    return this.#keep(key, { etag: md5(bytes), size: bytes.length, modified: this.#now(), headers, path });
  }

  object(key: string): StoredObject {
    const object = this.objects.get(key);
    if (!object) throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
    return object;
  }

  read(object: StoredObject): Readable {
    return createReadStream(object.path);
  }

  async remove(key: string): Promise<void> {
    const object = this.objects.get(key);
    this.objects.delete(key);
    if (object) await rm(object.path, { force: true });
  }

  begin(key: string, checksum: boolean, headers: Record<string, string>): string {
    const id = randomUUID();
    this.uploads.set(id, { id, key, initiated: this.#now(), checksum, headers, parts: new Map() });
    return id;
  }

  upload(key: string, id: string): PendingUpload {
    const upload = this.uploads.get(id);
    if (upload?.key !== key)
      throw new S3Error(404, 'NoSuchUpload', 'The specified multipart upload does not exist.');
    return upload;
  }

  async putPart(
    upload: PendingUpload,
    number: number,
    bytes: Buffer,
    crc32: string | undefined,
  ): Promise<string> {
    if (!Number.isInteger(number) || number < 1 || number > MOST_PARTS)
      throw new S3Error(
        400,
        'InvalidArgument',
        `Part number must be an integer between 1 and ${MOST_PARTS}.`,
      );
    if (upload.checksum && crc32 === undefined)
      throw new S3Error(400, 'InvalidRequest', 'The upload was created with a checksum; this part has none.');
    const path = this.#path();
    await writeFile(path, bytes);
    const before = upload.parts.get(number);
    upload.parts.set(number, { etag: md5(bytes), size: bytes.length, crc32, path });
    if (before) await rm(before.path, { force: true });
    return md5(bytes);
  }

  async complete(upload: PendingUpload, named: readonly NamedPart[]): Promise<string> {
    if (this.checksums === 'parts' && upload.checksum)
      throw new S3Error(
        412,
        'PreconditionFailed',
        'At least one of the pre-conditions you specified did not hold.',
      );
    if (named.length === 0) throw new S3Error(400, 'MalformedXML', 'An upload has at least one part.');
    if (named.some(({ number }, index) => index > 0 && number <= named[index - 1]!.number))
      throw new S3Error(400, 'InvalidPartOrder', 'The list of parts was not in ascending order.');
    const parts = named.map(({ number, etag, crc32 }, index) => {
      const part = upload.parts.get(number);
      if (part?.etag !== etag || (upload.checksum && part.crc32 !== crc32))
        throw new S3Error(400, 'InvalidPart', `Part ${number} could not be found, or is another one.`);
      if (index < named.length - 1 && part.size < SMALLEST_PART_BYTES)
        throw new S3Error(400, 'EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed.');
      return part;
    });
    const path = this.#path();
    for (const part of parts) await appendFile(path, await readFile(part.path));
    const size = parts.reduce((sum, part) => sum + part.size, 0);
    const digests = Buffer.concat(parts.map(({ etag }) => Buffer.from(etag, 'hex')));
    const etag = `${md5(digests)}-${parts.length}`;
    await this.abort(upload);
    return this.#keep(upload.key, { etag, size, modified: this.#now(), headers: upload.headers, path });
  }

  async abort(upload: PendingUpload): Promise<void> {
    this.uploads.delete(upload.id);
    for (const { path } of upload.parts.values()) await rm(path, { force: true });
  }

  async #keep(key: string, object: StoredObject): Promise<string> {
    await rename(object.path, `${object.path}.object`);
    await this.remove(key);
    this.objects.set(key, { ...object, path: `${object.path}.object` });
    return object.etag;
  }

  #path(): string {
    return join(this.#folder, randomUUID());
  }
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}
