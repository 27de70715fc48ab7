import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Makes an empty folder that only this user may enter. It is removed after the test. */
export function temporaryFolder(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'induct-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
