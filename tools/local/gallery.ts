import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeFlow, writeGallery } from '../../tests/e2e/gallery/page.ts';
import { buildWeb } from './builds.ts';
import { runProgram } from './checks.ts';
import { findChromium } from './chromium.ts';
import { explain } from './settings.ts';

/** `npm run gallery`: makes a page that shows every screen in every state and width, and the README's picture of the flow. */

const root = resolve(import.meta.dirname, '../..');
const shots = mkdtempSync(join(tmpdir(), 'induct-gallery-'));
try {
  await buildWeb({ building: (name) => console.log(`Building ${name} …`) });
  const chromium = await findChromium();
  const complete = await runProgram(
    [
      join(root, 'node_modules/@playwright/test/cli.js'),
      'test',
      '-c',
      'tests/e2e/gallery/playwright.config.ts',
      ...process.argv.slice(2),
    ],
    { ...process.env, CHROMIUM_PATH: chromium, GALLERY_SHOTS: shots },
  );
  const page = join(root, 'out/gallery/index.html');
  const count = writeGallery(shots, page);
  console.log(`${count} pictures: ${page}`);
  if (complete && process.argv.length === 2) {
    await writeFlow(shots, join(root, 'docs/images/flow.png'), chromium);
    console.log('The flow: docs/images/flow.png');
  } else process.exitCode = complete ? 0 : 1;
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
} finally {
  rmSync(shots, { recursive: true, force: true });
}
