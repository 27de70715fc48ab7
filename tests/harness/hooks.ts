import { realpathSync } from 'node:fs';
import { afterEach, beforeEach, type TestContext } from 'node:test';

/**
 * `beforeEach` and `afterEach` for the tests of one file, which is given as `import.meta.filename`. Node's own hooks would also
 * run for the tests of all other files in the same process (`tools/local/testGroups.ts`).
 */
export function beforeEachIn(file: string, work: () => unknown): void {
  beforeEach((t) => (isIn(file, t as TestContext) ? work() : undefined));
}

export function afterEachIn(file: string, work: () => unknown): void {
  afterEach((t) => (isIn(file, t as TestContext) ? work() : undefined));
}

function isIn(file: string, { filePath }: TestContext): boolean {
  return filePath !== undefined && realpathSync(filePath) === file;
}
