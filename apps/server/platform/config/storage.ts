import { resolve } from 'node:path';
import type { SettingReader } from './reader.ts';
import { readSecrets, type Secrets } from './secrets.ts';

/** Where documents are kept: STORAGE_URL. */
export type StorageSettings = { kind: 'folder'; folder: string } | S3Settings;
export interface S3Settings {
  kind: 's3';
  bucket: string;
  /** The prefix of every object's name: empty, or ending in a slash. */
  prefix: string;
  /** The region of the bucket; null if the AWS SDK is to take it from its own settings. */
  region: string | null;
  /** The URL of an S3-compatible service; null for Amazon S3. */
  endpoint: string | null;
  /** Whether requests have a checksum wherever S3 supports one, or only where it requires one. */
  checksums: 'supported' | 'required';
  /** The credentials for the bucket; null if the AWS SDK is to take them from its own settings. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
}

/** Reads the document keys: DOCUMENT_KEY and, while the key is rotated, DOCUMENT_KEY_ALSO. */
export function readDocumentKeys(settings: SettingReader): Secrets | null {
  const keys = readSecrets(settings, 'DOCUMENT_KEY');
  if (keys?.some((key) => !/^[0-9a-f]{64}$/i.test(key)))
    settings.fault(
      'DOCUMENT_KEY must be 64 hexadecimal digits, as `openssl rand -hex 32` makes them, and DOCUMENT_KEY_ALSO, too.',
    );
  return keys;
}

/** Reads where documents are stored: in a folder (file:///path), or in a bucket (s3://bucket/prefix?region=…&endpoint=…&checksums=…). */
export function readStorage({ get, fault, address }: SettingReader, dataDir: string): StorageSettings {
  const here: StorageSettings = { kind: 'folder', folder: resolve(dataDir, 'documents') };
  const keys = ['STORAGE_ACCESS_KEY_ID', 'STORAGE_SECRET_ACCESS_KEY'] as const;
  const [accessKeyId, secretAccessKey] = keys.map(get);
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    fault(`${accessKeyId ? keys.join(' is set without ') : keys.toReversed().join(' is set without ')}.`);
  const given = address('STORAGE_URL', ['file:', 's3:']);
  const url = given === undefined ? null : new URL(given);
  if (url?.protocol !== 's3:') {
    if (accessKeyId || secretAccessKey)
      fault('STORAGE_ACCESS_KEY_ID is for documents in a bucket: set STORAGE_URL to s3://bucket.');
    return url === null ? here : { kind: 'folder', folder: decodeURIComponent(url.pathname) };
  }
  const endpoint = url.searchParams.get('endpoint');
  const checksums = url.searchParams.get('checksums');
  const other = [...url.searchParams.keys()].find(
    (name) => !['region', 'endpoint', 'checksums'].includes(name),
  );
  if (url.hostname === '' || url.username || url.port)
    fault('STORAGE_URL must name a bucket: s3://bucket/prefix. Keys have settings of their own.');
  if (other) fault(`STORAGE_URL has an unknown part: ${other}. There are region, endpoint and checksums.`);
  if (endpoint !== null && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint))
    fault("STORAGE_URL's endpoint must be an address like https://s3.example.com, without a path.");
  if (checksums !== null && checksums !== 'required')
    fault("STORAGE_URL's checksums can only be required: without them there is one wherever S3 supports it.");
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  return {
    kind: 's3',
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    // An S3-compatible service accepts any region, but the AWS SDK needs one.
    region: url.searchParams.get('region') ?? (endpoint === null ? null : 'us-east-1'),
    endpoint,
    checksums: checksums === null ? 'supported' : 'required',
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
  };
}
