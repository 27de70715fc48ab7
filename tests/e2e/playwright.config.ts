import { availableParallelism } from 'node:os';
import { defineConfig, devices } from '@playwright/test';
import { chromiumArguments, findChromium } from '../../tools/local/chromium.ts';

/** How to start the installed browser. */
const launchOptions = {
  executablePath: await findChromium(),
  args: chromiumArguments,
};

/**
 * Tests in a real browser against a real `npm start`, which `start.ts` runs once for all tests. Every test has a person of its
 * own, so the tests can run in parallel. A test runs on the screen of a desktop, or, if its title has the mark `@phone-only`, of a
 * phone, which is smaller, and which most joiners have (fixtures.ts).
 */
export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results',
  globalSetup: './start.ts',
  fullyParallel: true,
  // Tests wait more than half of their time, so there are five workers for two processors.
  workers: Math.ceil(2.5 * availableParallelism()),
  retries: 0,
  forbidOnly: !!process.env.CI,
  // These two end a test that hangs. They say nothing about speed: on a busy machine everything takes many times as long.
  timeout: 120_000,
  expect: { timeout: 60_000 },
  reporter: 'list',
  use: {
    ...devices['Desktop Chrome'],
    launchOptions,
    locale: 'en-US',
    // Turns off confetti and transitions, which take CPU time. Tests about motion turn them on.
    contextOptions: { reducedMotion: 'reduce' },
    // Recording a trace takes as long as the test itself. So traces are recorded only with E2E_TRACE, and kept of failed tests.
    trace: process.env.E2E_TRACE ? 'retain-on-failure' : 'off',
    screenshot: 'only-on-failure',
  },
});
