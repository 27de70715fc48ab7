import { docRing, docxOfParts, docxParts, jpegOfScans, zip } from '../../local/testing/documents.ts';
import { answerJobs, paced } from './paced.ts';

export interface UploadsJob {
  url: string;
  contactId: string;
  count: number;
  overMs: number;
}

const bomb = zip([...docxParts, { name: 'word/media/a.bmp', data: Buffer.alloc(100_000_000) }]);
const hostile = [
  ['scans.jpg', jpegOfScans(19_000)],
  ['ring.doc', docRing()],
  ['parts.docx', docxOfParts(19_000)],
  ['most.docx', docxOfParts(2_000)],
  ['bomb.docx', bomb],
] as const;

/** Documents that are made to cost much, one after the other; how long the server took for each (ms). */
answerJobs<UploadsJob, number[]>(async ({ url, contactId, count, overMs }) => {
  const times: number[] = [];
  await paced(count, overMs, async (index) => {
    const [name, content] = hostile[index % hostile.length]!;
    const form = new FormData();
    form.append('contactId', contactId);
    form.append('file', new Blob([new Uint8Array(content)]), name);
    const sent = performance.now();
    const { status } = await fetch(url, { method: 'POST', body: form });
    times.push(performance.now() - sent);
    if (status !== 415 && status !== 200) throw new Error(`${name} was answered with ${status}.`);
  });
  return times;
});
