import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/**
 * A reporter for `node --test`: prints a line for each file that passes, each skipped test with its reason, every failure in
 * full, and the output of the tests.
 */
export default async function* terse(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: string[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message;
    else if (type === 'test:pass' && typeof data.skip === 'string')
      yield `– skipped: ${data.name}: ${data.skip}\n`;
    else if (type === 'test:fail') {
      // Leaves out a file that fails only because tests in it fail: those tests are reported themselves.
      const error = data.details.error as Error & { failureType?: string };
      if (error.failureType === 'subtestsFailed') continue;
      const where = data.file ? `${relative(process.cwd(), data.file)}:${data.line ?? 0}` : '';
      failures.push(`✖ ${data.name}\n  ${where}\n${indent(inspect(error.cause ?? error))}\n`);
      yield `✖ ${data.name} (${where})\n`;
    } else if (type === 'test:summary' && data.file) {
      const { tests, passed, skipped, todo } = data.counts;
      const failed = tests - passed - skipped - todo;
      const seconds = (data.duration_ms / 1000).toFixed(1);
      const counted = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`];
      yield `${failed ? '✖' : '✔'} ${relative(process.cwd(), data.file)}  ${counted.filter(Boolean).join(', ')}, ${seconds} s\n`;
    }
  }
  if (failures.length > 0) yield `\n${failures.join('\n')}`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
