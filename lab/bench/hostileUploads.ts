import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { hostileDocuments } from '../../tests/harness/documents.ts';

/**
 * A process that sends documents that are expensive to inspect, spread evenly over a time, without waiting for answers. The
 * parent process sends it a {@link HostileJob}. When all documents are answered, it sends back a text: empty if every answer had
 * the expected status, otherwise what went wrong. The process has the lowest priority, because real strangers use their own
 * machines.
 */

export interface HostileJob {
  url: string;
  contactId: string;
  count: number;
  overMs: number;
  /** The expected status of each answer. */
  status: number;
}

setPriority(19);
const documents = hostileDocuments();

/** Encodes the form of a document in advance, to leave the CPU to the measured server. */
async function formOf({ name, content }: (typeof documents)[number], contactId: string) {
  const form = new FormData();
  form.append('contactId', contactId);
  form.append('file', new Blob([new Uint8Array(content)]), name);
  const written = new Response(form);
  return {
    name,
    headers: { 'content-type': written.headers.get('content-type')! },
    body: Buffer.from(await written.arrayBuffer()),
  };
}

async function sendAll({ url, contactId, count, overMs, status }: HostileJob): Promise<void> {
  const forms = await Promise.all(documents.map((document) => formOf(document, contactId)));
  const send = async (index: number) => {
    await pause((index * overMs) / count);
    const { name, headers, body } = forms[index % forms.length]!;
    const answer = await request(url, { method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode !== status) throw new Error(`${name} was answered with ${answer.statusCode}.`);
  };
  await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
}

process.on('message', (job: HostileJob) => {
  sendAll(job).then(
    () => process.send!(''),
    (error: Error) => process.send!(error.message),
  );
});
for (const event of ['SIGTERM', 'disconnect'] as const) process.once(event, () => process.exit(0));
process.send!('ready');
