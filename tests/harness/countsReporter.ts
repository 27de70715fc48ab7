import type { TestEvent } from 'node:test/reporters';

/** For `node --test`: nothing but the counts of the whole run, as JSON. */
export default async function* counts(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === 'test:summary' && !data.file) yield `${JSON.stringify(data.counts)}\n`;
  }
}
