import { defineConfig, devices } from '@playwright/test';
import { findChromium } from '../../tools/local/chromium.ts';

/** The machine's own browser. Without the flags it talks to its maker. */
const launchOptions = {
  executablePath: await findChromium(),
  args: [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // The card form's frames in the page's own process: else what is pressed right after a test has scrolled there goes to the
    // frame that was at that place before.
    '--disable-site-isolation-trials',
    // Playwright's own list, since the browser reads the last one only, without what gives each new window an address bar of two
    // pages: as much work as a short journey.
    `--disable-features=${[
      'AvoidUnnecessaryBeforeUnloadCheckSync',
      'DestroyProfileOnBrowserClose',
      'HttpsUpgrades',
      'HttpsFirstBalancedModeAutoEnable',
      'LensOverlay',
      'MediaRouter',
      'PaintHolding',
      'ThirdPartyStoragePartitioning',
      'AvoidCorsURLLoaderRestartOnRedirect',
      'TcpPortRandomizationWin',
      'OptimizationHints',
      'NetworkTimeServiceQuerying',
      'AimEnabled',
      'PreconnectToSearch',
      'WebUIOmniboxPopup',
      'WebUIOmniboxAimPopup',
      'WebUIOmniboxFullPopup',
    ].join()}`,
  ],
};

/**
 * Journeys in a real browser against the real start, which `start.ts` brings up once for all of them. Every test has
 * an identity of its own, so they run side by side. `@phone` marks what a phone does as well, `@phone-only` what
 * only a phone does.
 */
export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results',
  globalSetup: './start.ts',
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: !!process.env.CI,
  timeout: 30_000,
  expect: { timeout: 7_000 },
  reporter: 'list',
  use: {
    launchOptions,
    locale: 'en-US',
    // A trace costs as much time as the journey itself: ask for it when one fails.
    trace: process.env.E2E_TRACE ? 'retain-on-failure' : 'off',
    screenshot: 'only-on-failure',
  },
  projects: [
    {
      name: 'desktop',
      grepInvert: /@phone-only/,
      use: { ...devices['Desktop Chrome'], viewport: { width: 1280, height: 900 } },
    },
    {
      name: 'phone',
      grep: /@phone/,
      use: {
        ...devices['Desktop Chrome'],
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
      },
    },
  ],
});
