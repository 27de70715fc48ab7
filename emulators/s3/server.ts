import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { type Fault, Faults } from '../shared/faults.ts';
import { Bucket, type NamedPart } from './bucket.ts';
import { notEmulated, S3Error } from './errors.ts';
import { assertSigned, type Keys, sha256 } from './signature.ts';

export interface S3Emulator {
  url: string;
  bucket: Bucket;
  keys: Keys;
  /** Adds a fault for the next matching requests (emulators/shared/faults.ts). */
  meet(fault: Fault): void;
  close(): Promise<void>;
}

export const S3_BUCKET = 'documents';
const KEYS: Keys = { accessKeyId: 'AKIAEMULATED', secretAccessKey: 'emulated-secret' };
/** The maximum number of objects on a page of a list. S3 has 1,000; fewer here, so that tests see more than one page. */
const PAGE = 10;
const KNOWN_HEADERS =
  /^x-amz-(date|content-sha256|user-agent|sdk-checksum-algorithm|checksum-(crc32|algorithm|type|mode)|mp-object-size)$/;

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  bucket: Bucket;
  key: string;
  query: URLSearchParams;
  body: () => Promise<Buffer>;
}
type Route = [
  method: string,
  on: 'bucket' | 'object',
  query: readonly string[],
  run: (call: Call) => Promise<void>,
];

/** Every call, with the query parameters that it must have. A parameter that ends with a question mark may be missing. */
const ROUTES: readonly Route[] = [
  ['PUT', 'object', ['x-id?'], putObject],
  ['GET', 'object', ['x-id?'], getObject],
  ['HEAD', 'object', [], getObject],
  ['DELETE', 'object', ['x-id?'], deleteObject],
  ['POST', 'object', ['uploads'], createUpload],
  ['PUT', 'object', ['uploadId', 'partNumber', 'x-id?'], uploadPart],
  ['POST', 'object', ['uploadId'], completeUpload],
  ['DELETE', 'object', ['uploadId', 'x-id?'], abortUpload],
  ['GET', 'bucket', ['list-type', 'prefix?', 'max-keys?', 'continuation-token?'], listObjects],
  ['GET', 'bucket', ['uploads', 'prefix?', 'key-marker?', 'upload-id-marker?'], listUploads],
  ['GET', 'bucket', ['versioning'], getVersioning],
  ['GET', 'bucket', ['lifecycle'], getLifecycle],
];

/**
 * Starts an emulator of an S3-compatible service with one bucket and path-style addresses. It verifies signatures and checksums.
 */
export async function startS3Emulator({
  dataDir,
  now = () => new Date(),
}: {
  dataDir: string;
  now?: () => Date;
}): Promise<S3Emulator> {
  const bucket = new Bucket(dataDir, now);
  const faults = new Faults();
  const server = createServer((request, response) => {
    answer(request, response, bucket, faults, now).catch((error: unknown) => refuse(response, error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket,
    keys: KEYS,
    meet(fault) {
      const wrong = faults.add(fault);
      if (wrong) throw new Error(wrong);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  bucket: Bucket,
  faults: Faults,
  now: () => Date,
): Promise<void> {
  const url = new URL(request.url!, `http://${request.headers.host}`);
  const fault = faults.take(request.method!, url.pathname, request.url);
  if (fault?.kind === 'slow') await wait(fault.ms ?? 1_000);
  else if (fault?.kind === 'cut') return void request.socket.destroy();
  else if (fault?.kind === 'hang') return void request.resume();
  else if (fault?.kind === 'status') {
    await buffer(request);
    throw new S3Error(fault.status ?? 500, 'InternalError', 'An emulated failure.');
  } else if (fault) throw notEmulated(`the fault ${fault.kind}`);

  assertSigned(request, url, KEYS, now().getTime());
  const strange = Object.keys(request.headers).find(
    (name) => name.startsWith('x-amz-') && !KNOWN_HEADERS.test(name),
  );
  if (strange) throw notEmulated(`the header ${strange}`);
  const checksum = Object.keys(request.headers).find((name) => /^x-amz-(sdk-)?checksum-/.test(name));
  if (checksum && bucket.checksums === 'none')
    throw new S3Error(400, 'InvalidArgument', `Unsupported header '${checksum}' received for this API call.`);
  const [, name = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
  if (name !== S3_BUCKET) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist.');
  const key = rest.join('/');
  const given = [...url.searchParams.keys()];
  const route = ROUTES.find(
    ([method, on, query]) =>
      method === request.method &&
      on === (key === '' ? 'bucket' : 'object') &&
      query.every((one) => one.endsWith('?') || given.includes(one)) &&
      given.every((one) => query.includes(one) || query.includes(`${one}?`)),
  );
  if (!route) throw notEmulated(`${request.method} ${url.pathname}?${given}`);
  const body = async () => checked(request, await buffer(request));
  await route[3]({ request, response, bucket, key, query: url.searchParams, body });
}

/** Returns a request's body. Throws if the body does not match the hash or the checksum in the request's headers. */
function checked(request: IncomingMessage, bytes: Buffer): Buffer {
  const hash = request.headers['x-amz-content-sha256'];
  if (hash !== sha256(bytes)) {
    if (!/^[0-9a-f]{64}$/.test(String(hash))) throw notEmulated(`the content hash ${hash}`);
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', 'The body is not the one that was signed.');
  }
  const checksum = request.headers['x-amz-checksum-crc32'];
  if (checksum !== undefined && checksum !== crc32Of(bytes))
    throw new S3Error(400, 'BadDigest', 'The CRC32 you specified did not match the calculated checksum.');
  return bytes;
}

function crc32Of(bytes: Buffer): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum.toString('base64');
}

async function putObject({ request, response, bucket, key, body }: Call): Promise<void> {
  const etag = await bucket.put(key, await body(), kept(request));
  response.writeHead(200, { etag: `"${etag}"` }).end();
}

async function getObject({ request, response, bucket, key }: Call): Promise<void> {
  const object = bucket.object(key);
  response.writeHead(200, {
    ...object.headers,
    etag: `"${object.etag}"`,
    'content-length': object.size,
    'last-modified': object.modified.toUTCString(),
  });
  if (request.method === 'HEAD') return void response.end();
  await pipeline(bucket.read(object), response);
}

async function deleteObject({ response, bucket, key }: Call): Promise<void> {
  await bucket.remove(key);
  response.writeHead(204).end();
}

async function createUpload({ request, response, bucket, key, body }: Call): Promise<void> {
  await body();
  const algorithm = request.headers['x-amz-checksum-algorithm'];
  if (algorithm !== undefined && algorithm !== 'CRC32') throw notEmulated(`checksums of ${algorithm}`);
  const id = bucket.begin(key, algorithm !== undefined, kept(request));
  xml(response, 'InitiateMultipartUploadResult', { Bucket: S3_BUCKET, Key: key, UploadId: id });
}

async function uploadPart({ request, response, bucket, key, query, body }: Call): Promise<void> {
  const bytes = await body();
  const checksum = request.headers['x-amz-checksum-crc32'] as string | undefined;
  const upload = bucket.upload(key, query.get('uploadId')!);
  const etag = await bucket.putPart(upload, Number(query.get('partNumber')), bytes, checksum);
  response.writeHead(200, {
    etag: `"${etag}"`,
    ...(checksum === undefined ? {} : { 'x-amz-checksum-crc32': checksum }),
  });
  response.end();
}

async function completeUpload({ response, bucket, key, query, body }: Call): Promise<void> {
  const text = (await body()).toString();
  const parts = [...text.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part]): NamedPart => {
    const value = (name: string) =>
      new RegExp(`<${name}>(.*?)</${name}>`).exec(part!)?.[1]?.replaceAll('&quot;', '"');
    return {
      number: Number(value('PartNumber')),
      etag: (value('ETag') ?? '').replaceAll('"', ''),
      crc32: value('ChecksumCRC32'),
    };
  });
  const etag = await bucket.complete(bucket.upload(key, query.get('uploadId')!), parts);
  xml(response, 'CompleteMultipartUploadResult', { Bucket: S3_BUCKET, Key: key, ETag: `"${etag}"` });
}

async function abortUpload({ response, bucket, key, query }: Call): Promise<void> {
  await bucket.abort(bucket.upload(key, query.get('uploadId')!));
  response.writeHead(204).end();
}

async function listObjects({ response, bucket, query }: Call): Promise<void> {
  if (query.get('list-type') !== '2') throw notEmulated('the first version of ListObjects');
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const most = Math.min(PAGE, Number(query.get('max-keys') ?? PAGE));
  const found = [...bucket.objects].filter(([key]) => key.startsWith(prefix) && key > after).sort(byKey);
  const page = found.slice(0, most);
  xml(response, 'ListBucketResult', {
    Name: S3_BUCKET,
    Prefix: prefix,
    KeyCount: page.length,
    MaxKeys: most,
    IsTruncated: found.length > most,
    ...(found.length > most && { NextContinuationToken: page.at(-1)![0] }),
    Contents: page.map(([Key, { etag, size, modified }]) => ({
      Key,
      LastModified: modified.toISOString(),
      ETag: `"${etag}"`,
      Size: size,
      StorageClass: 'STANDARD',
    })),
  });
}

async function listUploads({ response, bucket, query }: Call): Promise<void> {
  const prefix = query.get('prefix') ?? '';
  const after = `${query.get('key-marker') ?? ''}\n${query.get('upload-id-marker') ?? ''}`;
  const found = [...bucket.uploads.values()]
    .filter(({ key, id }) => key.startsWith(prefix) && `${key}\n${id}` > after)
    .sort((a, b) => (`${a.key}\n${a.id}` < `${b.key}\n${b.id}` ? -1 : 1));
  const page = found.slice(0, PAGE);
  const last = found.length > PAGE ? page.at(-1)! : null;
  xml(response, 'ListMultipartUploadsResult', {
    Bucket: S3_BUCKET,
    Prefix: prefix,
    MaxUploads: PAGE,
    IsTruncated: last !== null,
    ...(last && { NextKeyMarker: last.key, NextUploadIdMarker: last.id }),
    Upload: page.map(({ key, id, initiated }) => ({
      Key: key,
      UploadId: id,
      Initiated: initiated.toISOString(),
    })),
  });
}

async function getVersioning({ response, bucket }: Call): Promise<void> {
  xml(response, 'VersioningConfiguration', bucket.versioning === null ? {} : { Status: bucket.versioning });
}

async function getLifecycle({ response, bucket }: Call): Promise<void> {
  const { noncurrentDays } = bucket;
  if (noncurrentDays === null)
    throw new S3Error(404, 'NoSuchLifecycleConfiguration', 'The lifecycle configuration does not exist');
  const NoncurrentVersionExpiration = { NoncurrentDays: noncurrentDays };
  const Rule = { ID: 'versions', Filter: { Prefix: '' }, Status: 'Enabled', NoncurrentVersionExpiration };
  xml(response, 'LifecycleConfiguration', { Rule });
}

/** Returns those headers of an upload that S3 stores and later returns with the object. */
function kept(request: IncomingMessage): Record<string, string> {
  const names = ['content-type', 'content-disposition'];
  return Object.fromEntries(
    names.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : [])),
  );
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

type Xml = string | number | boolean | { [name: string]: Xml | readonly Xml[] };

function xml(response: ServerResponse, root: string, content: Record<string, Xml | readonly Xml[]>): void {
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>\n${element(root, content)}`);
}

function element(name: string, content: Xml | readonly Xml[]): string {
  if (Array.isArray(content)) return content.map((one) => element(name, one)).join('');
  const inner =
    typeof content === 'object'
      ? Object.entries(content)
          .map(([child, value]) => element(child, value as Xml))
          .join('')
      : String(content).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<${name}>${inner}</${name}>`;
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const { status, code, message } =
    error instanceof S3Error ? error : new S3Error(500, 'InternalError', `The emulator failed: ${error}`);
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  response.end(element('Error', { Code: code, Message: message }));
}
