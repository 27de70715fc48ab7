import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { S3Error } from './errors.ts';

export interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
}

const MOST_SKEW_MS = 15 * 60_000;

/**
 * Throws unless a request was signed with these keys within 15 minutes of `now` (ms since 1970), and the signature covers the
 * host and all x-amz- headers (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
 */
export function assertSigned(request: IncomingMessage, url: URL, keys: Keys, now: number): void {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (!match) throw new S3Error(403, 'AccessDenied', 'The request is not signed.');
  const [, accessKeyId, day, region, signedHeaders, signature] = match as unknown as string[];
  if (accessKeyId !== keys.accessKeyId)
    throw new S3Error(403, 'InvalidAccessKeyId', 'There is no such access key.');
  const time = String(request.headers['x-amz-date']);
  const sentAt = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(sentAt - now) < MOST_SKEW_MS) || !time.startsWith(day!))
    throw new S3Error(403, 'RequestTimeTooSkewed', 'The clocks differ too much.');
  const names = signedHeaders!.split(';');
  const unsigned = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))].find(
    (name) => !names.includes(name),
  );
  if (unsigned) throw new S3Error(403, 'AccessDenied', `The header ${unsigned} is not signed.`);

  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const canonical = [
    request.method,
    url.pathname
      .split('/')
      .map((segment) => encode(decodeURIComponent(segment)))
      .join('/'),
    query,
    ...names.map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders,
    request.headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [day!, region!, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  const expected = createHmac('sha256', key).update(toSign).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature!, 'hex')))
    throw new S3Error(403, 'SignatureDoesNotMatch', 'The signature is not that of this request.');
}

export function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
