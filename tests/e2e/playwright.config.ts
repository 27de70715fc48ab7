import { availableParallelism } from 'node:os';
import { defineConfig, devices } from '@playwright/test';
import { chromiumArguments, findChromium } from '../../tools/local/chromium.ts';

/** How to start the installed browser. */
const launchOptions = {
  executablePath: await findChromium(),
  args: chromiumArguments,
};

/**
 * Tests in a real browser against a real `npm start`, which `start.ts` runs once for all tests. Every test has its own person, so
 * the tests can run in parallel. A test runs on the screen of a desktop or, if its title has the mark `@phone-only`, on the
 * smaller screen of a phone, which most joiners use (fixtures.ts).
 */
export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results',
  globalSetup: './start.ts',
  fullyParallel: true,
  // Tests spend more than half of their time waiting, so there are five workers for every two processors.
  workers: Math.ceil(2.5 * availableParallelism()),
  retries: 0,
  forbidOnly: !!process.env.CI,
  // These two limits end a test that hangs. They are no measure of speed: on a busy machine everything takes many times as long.
  timeout: 120_000,
  expect: { timeout: 60_000 },
  reporter: 'list',
  use: {
    ...devices['Desktop Chrome'],
    launchOptions,
    locale: 'en-US',
    // Turns off confetti and transitions, which take CPU time. Tests about motion turn them on.
    contextOptions: { reducedMotion: 'reduce' },
    // Recording a trace takes as long as the test itself. So traces are recorded only with E2E_TRACE, and kept only for failed
    // tests.
    trace: process.env.E2E_TRACE ? 'retain-on-failure' : 'off',
    screenshot: 'only-on-failure',
  },
});
