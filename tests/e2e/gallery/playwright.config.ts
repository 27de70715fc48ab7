import { defineConfig } from '@playwright/test';
import journeys from '../playwright.config.ts';

/**
 * Uses the `npm start` and the browser of the other browser tests. The pictures are written to GALLERY_SHOTS
 * (`tools/local/gallery.ts`).
 */
export default defineConfig(journeys, {
  testDir: '.',
  testMatch: '*.shots.ts',
  globalSetup: '../start.ts',
  outputDir: '../../../test-results',
  timeout: 60_000,
  use: { screenshot: 'off', contextOptions: { reducedMotion: 'reduce' } },
});
