import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { chromiumArguments, findChromium } from '../../../tools/local/chromium.ts';
import { startStripeEmulator } from '../server.ts';
import { clientOf } from '../test-support.ts';
import { serveTestPage } from './serve.ts';

/** Starts the emulator, the page that pays at it, and a browser. `close` ends all three. */
export async function openTestPage() {
  const dataDir = mkdtempSync(join(tmpdir(), 'stripe-emulator-'));
  const emulator = await startStripeEmulator({ host: '127.0.0.1', port: 0, dataDir });
  const site = await serveTestPage(emulator.url);
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', ...chromiumArguments],
  });
  const close = async () => {
    await browser.close();
    await site.close();
    await emulator.close();
  };
  return { emulator, site, browser, stripe: clientOf(emulator.url), close };
}
