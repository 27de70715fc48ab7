import { findChromium } from '../../local/chromium.ts';

/** How Chromium is started: quiet, without a word to its maker, and ended by us alone, also on Ctrl-C. */
export async function launchOptions() {
  return {
    executablePath: await findChromium(),
    args: [
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
      // As for the journeys (e2e/playwright.config.ts).
      '--disable-site-isolation-trials',
    ],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  };
}
