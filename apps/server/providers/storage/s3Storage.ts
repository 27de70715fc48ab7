import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  NoSuchKey,
  NoSuchUpload,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { S3Settings } from '../../platform/config/storage.ts';
import { arrive, filesOlderThan, isName, nameOfPart, partOf, reachFolder } from './arrive.ts';
import { roomOf } from './room.ts';
import { type Arrived, type ByteStore, NotStored, StorageDown } from './storage.ts';

const CONNECT_MS = 5_000;
const SILENCE_MS = 30_000;
/**
 * S3's minimum size of a part (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html). Smaller files are uploaded
 * whole.
 */
const SMALLEST_PART_BYTES = 5 * 1_048_576;
/** S3's maximum number of parts of a file (same page). */
const MOST_PARTS = 10_000;
/** How many uploads run at once, and how many parts of each. Each part is held in memory, so both are limited. */
const PARTS_AT_ONCE = 2;
const UPLOADS_AT_ONCE = 4;

/**
 * Returns a store that keeps files in a bucket of an S3-compatible service. A file is first written to a local folder and checked
 * there, then uploaded. Objects have the bucket's default access, and each part has a checksum that the service verifies (unless
 * `checksums` of the settings says otherwise).
 */
export function s3Storage(settings: S3Settings, incoming: string, reserveBytes: number): ByteStore {
  const { bucket, prefix } = settings;
  const client = clientOf(settings);
  const nameOf = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const atOnce = gate(UPLOADS_AT_ONCE);
  const room = roomOf(incoming, reserveBytes);

  async function upload({ key, path, sizeBytes }: Arrived): Promise<void> {
    const body = createReadStream(path, { highWaterMark: 1_048_576 });
    try {
      await new Upload({
        client,
        params: {
          ...nameOf(key),
          Body: body,
          ContentType: 'application/octet-stream',
          ContentDisposition: 'attachment',
        },
        partSize: Math.max(SMALLEST_PART_BYTES, Math.ceil(sizeBytes / MOST_PARTS)),
        queueSize: PARTS_AT_ONCE,
      }).done();
    } finally {
      body.destroy();
    }
  }

  /** Lists the multipart uploads under `prefix` that were neither completed nor aborted. */
  async function* unfinished(prefix: string) {
    let page: Partial<ListMultipartUploadsCommandOutput> = {};
    do {
      page = await client.send(
        new ListMultipartUploadsCommand({
          Bucket: bucket,
          Prefix: prefix,
          KeyMarker: page.NextKeyMarker,
          UploadIdMarker: page.NextUploadIdMarker,
        }),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
        if (Key && UploadId && Initiated) yield { Key, UploadId, Initiated };
    } while (page.IsTruncated);
  }

  async function takeBack(key: string): Promise<void> {
    for await (const { Key, UploadId } of unfinished(prefix + key)) {
      await client
        .send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
        .catch((error: unknown) => {
          if (!(error instanceof NoSuchUpload)) throw error;
        });
    }
  }

  return {
    async reach() {
      await reachFolder(incoming);
      await asDown(client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })));
    },
    room: () => room.left(),
    put: (bytes, check, expectedBytes = null, name) =>
      arrive(
        { folder: incoming, room },
        bytes,
        expectedBytes,
        async (file) => {
          await check(file);
          await asDown(atOnce(() => upload(file)));
        },
        name,
      ),
    async read(name) {
      const { Body } = await asDown(client.send(new GetObjectCommand(nameOf(name)))).catch((error: Error) => {
        throw error.cause instanceof NoSuchKey ? new NotStored(name, { cause: error.cause }) : error;
      });
      return Body as Readable;
    },
    async has(name) {
      // A list request is used instead of HEAD, because the answer to a refused HEAD has no body that gives the reason.
      const { Contents = [] } = await asDown(
        client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + name, MaxKeys: 1 })),
      );
      return Contents[0]?.Key === prefix + name;
    },
    async remove(name) {
      const whole = nameOfPart(name);
      if (whole === null) return void (await asDown(client.send(new DeleteObjectCommand(nameOf(name)))));
      await rm(resolve(incoming, name), { force: true });
      await asDown(takeBack(whole));
    },
    async *olderThan(time) {
      yield* filesOlderThan(incoming, time);
      for await (const { Contents = [] } of paginateListObjectsV2(
        { client },
        { Bucket: bucket, Prefix: prefix },
      )) {
        for (const { Key = '', LastModified } of Contents) {
          const name = Key.slice(prefix.length);
          if (isName(name) && LastModified && LastModified < time) yield name;
        }
      }
      for await (const { Key, Initiated } of unfinished(prefix)) {
        const name = Key.slice(prefix.length);
        if (isName(name) && Initiated < time) yield partOf(name);
      }
    },
  };
}

/** What happens to removed objects: no versions are kept, a lifecycle rule lets the versions expire, or the versions stay. */
export type Versions = 'none' | 'expire' | 'stay';

/** Asks the service what happens to removed objects. Throws {@link StorageDown}, also if the keys lack the permission to ask. */
export async function askVersions(settings: S3Settings): Promise<Versions> {
  const { bucket: Bucket, prefix } = settings;
  const client = clientOf(settings);
  const { Status } = await asDown(client.send(new GetBucketVersioningCommand({ Bucket })));
  // Without `Status`, versioning was never on. If versioning is suspended, the bucket still has the older versions.
  if (Status === undefined) return 'none';
  const { Rules = [] } = await asDown(
    client.send(new GetBucketLifecycleConfigurationCommand({ Bucket })).catch((error: Error) => {
      if (error.name === 'NoSuchLifecycleConfiguration') return { Rules: [] };
      throw error;
    }),
  );
  const expire = Rules.some(({ Status, NoncurrentVersionExpiration, Filter, Prefix }) => {
    const { Prefix: under = Prefix ?? '', ...others } = Filter ?? {};
    const isForAll = prefix.startsWith(under) && Object.values(others).every((other) => other === undefined);
    return Status === 'Enabled' && NoncurrentVersionExpiration !== undefined && isForAll;
  });
  return expire ? 'expire' : 'stay';
}

function clientOf({ region, endpoint, checksums, credentials }: S3Settings): S3Client {
  return new S3Client({
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    // Some S3-compatible services refuse the CRC32 that the SDK adds by default: Google Cloud Storage when an upload in parts is
    // completed, Backblaze B2 with every request. Without it the signature's SHA-256 still covers each request's body.
    ...(checksums === 'required' && {
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
    // S3-compatible services often do not support virtual-hosted addresses, in which the host name contains the bucket's name.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    ...(region === null ? {} : { region }),
    // Without credentials the SDK looks for them in its default places: environment variables, profile, the machine's role.
    ...(credentials === null ? {} : { credentials }),
  });
}

/** Converts a rejection of the work to {@link StorageDown}: a failure of the service or the network is not the sender's fault. */
async function asDown<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new StorageDown('the storage of the documents did not do its work', { cause });
  }
}

/** Returns a function that runs work, but at most `atOnce` pieces of work at a time. */
function gate(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
