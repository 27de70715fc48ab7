import { type ClientRequest, request } from 'node:http';
import type { Sent, Upload } from './send.ts';

/**
 * Sends one document as a form, as fast as it is taken; a process of its own, so that its processor time can be told from
 * the servers'. Its parent sends an {@link Upload} and gets a {@link Sent}.
 */
const PIECE = Buffer.alloc(1_048_576, '.');
const BOUNDARY = 'form-boundary-7d1c';

process.on('message', (upload: Upload) => {
  send(upload).then(
    (sent) => process.send!(sent),
    (error: Error) => process.send!({ failed: error.message }),
  );
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
process.send!('ready');

async function send({ url, fields, bytes }: Upload): Promise<Sent> {
  const head =
    Object.entries(fields)
      .map(
        ([name, value]) =>
          `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      )
      .join('') +
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="transcript.pdf"\r\ncontent-type: application/pdf\r\n\r\n`;
  const { start, padding, end } = pdfParts(bytes);
  const tail = `${end}\r\n--${BOUNDARY}--\r\n`;
  const length = head.length + start.length + padding + tail.length;

  const began = performance.now();
  const outgoing = request(url, {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-length': length },
  });
  const answered = new Promise<{ status: number; body: string }>((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => (body += chunk));
      response.once('end', () => resolve({ status: response.statusCode!, body }));
    });
  });
  await write(outgoing, head + start);
  for (let left = padding; left > 0; left -= PIECE.length)
    await write(outgoing, left < PIECE.length ? PIECE.subarray(0, left) : PIECE);
  outgoing.end(tail);
  const { status, body } = await answered;
  if (status !== 200) throw new Error(`${url} answered ${status}: ${body.slice(0, 300)}`);
  return { seconds: (performance.now() - began) / 1000 };
}

function write(outgoing: ClientRequest, data: Buffer | string): Promise<void> {
  return new Promise((resolve, reject) =>
    outgoing.write(data, (error) => (error ? reject(error) : resolve())),
  );
}

/** A PDF of so many bytes: one page, and a comment that fills it up. */
function pdfParts(bytes: number): { start: string; padding: number; end: string } {
  const start =
    '%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n%';
  const endAt = (offset: number) => {
    const at = (object: string) => String(start.indexOf(object)).padStart(10, '0');
    return `\nxref\n0 3\n0000000000 65535 f \n${at('1 0 obj')} 00000 n \n${at('2 0 obj')} 00000 n \ntrailer\n<< /Size 3 /Root 1 0 R >>\nstartxref\n${String(offset + 1).padStart(10, '0')}\n%%EOF\n`;
  };
  const padding = bytes - start.length - endAt(0).length;
  return { start, padding, end: endAt(start.length + padding) };
}
