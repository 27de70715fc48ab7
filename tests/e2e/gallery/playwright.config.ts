import { defineConfig } from '@playwright/test';
import journeys from '../playwright.config.ts';

/**
 * Uses the `npm start` and the browser of the other browser tests. The environment variable GALLERY_SHOTS, which
 * tools/local/gallery.ts sets, names the folder for the pictures.
 */
export default defineConfig(journeys, {
  testDir: '.',
  testMatch: '*.shots.ts',
  globalSetup: '../start.ts',
  outputDir: '../../../test-results',
  timeout: 60_000,
  use: { screenshot: 'off', contextOptions: { reducedMotion: 'reduce' } },
});
