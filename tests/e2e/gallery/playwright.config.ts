import { defineConfig } from '@playwright/test';
import journeys from '../playwright.config.ts';

/**
 * Takes the pictures with the same `npm start` and the same browser as the browser tests. The environment variable GALLERY_SHOTS
 * names the folder for the pictures; tools/local/gallery.ts sets it.
 */
export default defineConfig(journeys, {
  testDir: '.',
  testMatch: '*.shots.ts',
  globalSetup: '../start.ts',
  outputDir: '../../../test-results',
  timeout: 60_000,
  use: { screenshot: 'off', contextOptions: { reducedMotion: 'reduce' } },
});
