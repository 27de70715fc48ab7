import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { S3_BUCKET, startS3Emulator } from './server.ts';

async function emulate(t: TestContext, now?: () => Date) {
  const dataDir = mkdtempSync(join(tmpdir(), 's3-emulator-'));
  const s3 = await startS3Emulator({ dataDir, ...(now && { now }) });
  t.after(() => s3.close());
  const client = (change: { secretAccessKey?: string; accessKeyId?: string } = {}) =>
    new S3Client({
      endpoint: s3.url,
      region: 'eu-west-1',
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { ...s3.keys, ...change },
    });
  return { s3, client };
}
const object = { Bucket: S3_BUCKET, Key: 'a folder/naïve (1).pdf' };
const refusedWith = (code: string, status: number) => (error: unknown) => {
  const { name, $metadata } = error as S3ServiceException;
  assert.deepEqual([name, $metadata.httpStatusCode], [code, status]);
  return true;
};

test('an object of any name is kept and read by who signs', async (t) => {
  const { client } = await emulate(t);
  await client().send(new PutObjectCommand({ ...object, Body: 'hello' }));
  const { Body } = await client().send(new GetObjectCommand(object));
  assert.equal(await Body!.transformToString(), 'hello');
  const { Contents } = await client().send(
    new ListObjectsV2Command({ Bucket: S3_BUCKET, Prefix: 'a folder/' }),
  );
  assert.deepEqual(
    Contents?.map(({ Key }) => Key),
    [object.Key],
  );
});

test('who signs with another key, or long ago, or not at all, gets nothing', async (t) => {
  const time = { now: Date.now() };
  const { s3, client } = await emulate(t, () => new Date(time.now));
  await client().send(new PutObjectCommand({ ...object, Body: 'hello' }));
  const read = new GetObjectCommand(object);
  await assert.rejects(
    client({ secretAccessKey: 'x' }).send(read),
    refusedWith('SignatureDoesNotMatch', 403),
  );
  await assert.rejects(client({ accessKeyId: 'x' }).send(read), refusedWith('InvalidAccessKeyId', 403));
  time.now += 3_600_000;
  await assert.rejects(client().send(read), refusedWith('RequestTimeTooSkewed', 403));
  assert.equal((await fetch(`${s3.url}/${S3_BUCKET}/x`)).status, 403);
});

test('bytes that are not those of the checksum are refused', async (t) => {
  const { client, s3 } = await emulate(t);
  const broken = new PutObjectCommand({ ...object, Body: 'hello', ChecksumCRC32: 'AAAAAA==' });
  await assert.rejects(client().send(broken), refusedWith('BadDigest', 400));
  assert.equal(s3.bucket.objects.size, 0);
});

test('an upload in parts is as strict as S3: sizes, order, checksums, and only what was uploaded', async (t) => {
  const { client, s3 } = await emulate(t);
  const begin = async () => {
    const create = new CreateMultipartUploadCommand({ ...object, ChecksumAlgorithm: 'CRC32' });
    return { ...object, UploadId: (await client().send(create)).UploadId };
  };
  const part = async (upload: Awaited<ReturnType<typeof begin>>, PartNumber: number, size: number) => {
    const put = new UploadPartCommand({ ...upload, PartNumber, Body: Buffer.alloc(size, PartNumber) });
    const { ETag, ChecksumCRC32 } = await client().send(put);
    return { PartNumber, ETag, ChecksumCRC32 };
  };
  const complete = (upload: Awaited<ReturnType<typeof begin>>, Parts: object[]) =>
    client().send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  const MIB = 1_048_576;

  const upload = await begin();
  const [first, second] = [await part(upload, 1, 5 * MIB), await part(upload, 2, 1000)];
  await assert.rejects(complete(upload, [second, first]), refusedWith('InvalidPartOrder', 400));
  await assert.rejects(complete(upload, [{ ...first, ETag: second.ETag }]), refusedWith('InvalidPart', 400));
  await assert.rejects(
    complete(upload, [{ ...first, ChecksumCRC32: second.ChecksumCRC32 }]),
    refusedWith('InvalidPart', 400),
  );
  await complete(upload, [first, second]);
  assert.equal(s3.bucket.object(object.Key).size, 5 * MIB + 1000);
  assert.equal(s3.bucket.uploads.size, 0);
  await assert.rejects(complete(upload, [first, second]), refusedWith('NoSuchUpload', 404));

  const small = await begin();
  const parts = [await part(small, 1, 1000), await part(small, 2, 1000)];
  await assert.rejects(complete(small, parts), refusedWith('EntityTooSmall', 400));
});

test('what it does not stand in for is 501', async (t) => {
  const { client } = await emulate(t);
  await assert.rejects(
    client().send(new GetObjectTaggingCommand(object)),
    refusedWith('NotImplemented', 501),
  );
  const acl = new PutObjectCommand({ ...object, Body: 'x', ACL: 'public-read' });
  await assert.rejects(client().send(acl), refusedWith('NotImplemented', 501));
});
