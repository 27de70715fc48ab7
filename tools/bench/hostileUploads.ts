import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { hostileDocuments } from '../../tests/harness/documents.ts';

/**
 * A process that sends documents made to cost much, evenly over a time, whatever became of those before. Its parent sends
 * a {@link HostileJob} and is told when all have been answered as they should: an empty text, or what went wrong. It runs at the lowest priority: making and
 * sending them is the work of the strangers' machines, which are not ours.
 */
export interface HostileJob {
  url: string;
  contactId: string;
  count: number;
  overMs: number;
  /** The status that each is to be answered with. */
  status: number;
}

setPriority(19);
const documents = hostileDocuments();

process.on('message', ({ url, contactId, count, overMs, status }: HostileJob) => {
  const send = async (index: number) => {
    await pause((index * overMs) / count);
    const { name, content } = documents[index % documents.length]!;
    const form = new FormData();
    form.append('contactId', contactId);
    form.append('file', new Blob([new Uint8Array(content)]), name);
    const answer = await fetch(url, { method: 'POST', body: form });
    await answer.arrayBuffer();
    if (answer.status !== status) throw new Error(`${name} was answered with ${answer.status}.`);
  };
  Promise.all(Array.from({ length: count }, (_, index) => send(index))).then(
    () => process.send!(''),
    (error: Error) => process.send!(error.message),
  );
});
for (const event of ['SIGTERM', 'disconnect'] as const) process.once(event, () => process.exit(0));
process.send!('ready');
