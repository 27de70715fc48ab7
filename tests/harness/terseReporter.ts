import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { isLateError } from './outcomeReporter.ts';

/** The outcomes of a file's tests, and the time (ms) that they took. */
interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
}

/**
 * A reporter for `node --test`: prints a line for each file when its process ends, each skipped test with its reason, every failure
 * in full, and the output of the tests. A process may run several files.
 */
export default async function* terse(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Map<string, Counts>();
  for await (const { type, data } of events) {
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message;
    else if (type === 'test:summary') {
      const ended = data.file ? [data.file] : [...files.keys()];
      for (const file of ended) {
        if (files.has(file)) yield lineOf(file, files.get(file)!);
        files.delete(file);
      }
    }
    if (type === 'test:diagnostic' && isLateError(data.message)) yield `✖ ${data.message}\n`;
    if (type !== 'test:pass' && type !== 'test:fail') continue;

    if (data.file && data.details.type !== 'suite') {
      const counts = files.get(data.file) ?? { passed: 0, failed: 0, skipped: 0, ms: 0 };
      counts[type === 'test:fail' ? 'failed' : data.skip === undefined ? 'passed' : 'skipped']++;
      if (data.nesting === 0) counts.ms += data.details.duration_ms;
      files.set(data.file, counts);
    }
    if (type === 'test:pass') {
      if (typeof data.skip === 'string') yield `– skipped: ${data.name}: ${data.skip}\n`;
      continue;
    }
    // Leaves out a file that fails only because tests in it fail: those tests are reported themselves.
    const error = data.details.error as Error & { failureType?: string };
    if (error.failureType === 'subtestsFailed') continue;
    const where = data.file ? `${relative(process.cwd(), data.file)}:${data.line ?? 0}` : '';
    yield `✖ ${data.name}\n  ${where}\n${indent(inspect(error.cause ?? error))}\n`;
  }
}

function lineOf(file: string, { passed, failed, skipped, ms }: Counts): string {
  const counted = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`];
  const what = relative(process.cwd(), file);
  return `${failed ? '✖' : '✔'} ${what}  ${counted.filter(Boolean).join(', ')}, ${(ms / 1000).toFixed(1)} s\n`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
