import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { stripVTControlCharacters } from 'node:util';

/** The maximum number of lines of an error's message in the outcome. */
const LINES = 30;

/** The outcome of a test run: its counts, and for each test that failed its name and the beginning of its error. */
export interface Outcome {
  counts: Record<'tests' | 'passed' | 'skipped' | 'todo', number>;
  failures: string[];
}

/** A reporter for `node --test`: writes the outcome of the whole run, as JSON. */
export default async function* outcome(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: string[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:fail') {
      const error = data.details.error as Error & { failureType?: string };
      // Leaves out a file that fails only because tests in it fail: those tests are reported themselves.
      if (error.failureType === 'subtestsFailed') continue;
      const why = beginningOf(String((error.cause as Error | undefined)?.message ?? error.message));
      const where = data.file ? `${relative(process.cwd(), data.file)}:${data.line ?? 0}` : '';
      failures.push(`${where} ${data.name}: ${why}`);
    } else if (type === 'test:diagnostic' && isLateError(data.message)) failures.push(data.message);
    else if (type === 'test:summary' && !data.file)
      yield JSON.stringify({ counts: data.counts, failures } satisfies Outcome);
  }
}

/**
 * Whether a diagnostic message of Node's is an error that was thrown outside a test, or after its test had passed. Node then ends
 * the process with an error, and counts no test as failed.
 */
export function isLateError(message: string): boolean {
  return message.startsWith('Error: ') && message.includes('asynchronous activity after the test ended');
}

/** Returns the first lines of an error's message, which are enough to see why a test failed. */
export function beginningOf(message: string): string {
  return stripVTControlCharacters(message).trimEnd().split('\n', LINES).join('\n      ');
}
