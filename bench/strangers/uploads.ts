import {
  docRing,
  docxOfParts,
  docxParts,
  jpegOfScans,
  randomText,
  zip,
} from '../../local/testing/documents.ts';
import { answerJobs, paced } from './paced.ts';

export interface UploadsJob {
  url: string;
  contactId: string;
  count: number;
  overMs: number;
}

/** Each is refused, most of them after all of the work that they can cause. */
const bomb = { name: 'word/media/a.bmp', data: Buffer.alloc(100_000_000), says: { size: 99_000_000 } };
/** With it, what the bomb becomes is just within a hundred times the file. */
const noise = { name: 'word/media/b.bmp', data: randomText(1_500_000) };
const broken = { name: 'z', data: 'x', says: { size: 2 } };
const many = Array.from({ length: 990 }, (_, index) => ({ name: `m/${index}`, data: 'x'.repeat(200) }));
const hostile = [
  ['scans.jpg', jpegOfScans(19_000)],
  ['ring.doc', docRing()],
  ['parts.docx', docxOfParts(19_000)],
  ['many.docx', zip([...docxParts, ...many, broken])],
  ['bomb.docx', zip([...docxParts, noise, bomb])],
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
    if (status !== 415) throw new Error(`${name} was answered with ${status}.`);
  });
  return times;
});
