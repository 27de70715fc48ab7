import { defineConfig } from '@playwright/test';
import journeys from '../playwright.config.ts';

/** The same start and browser as the journeys; what is shot lands in GALLERY_SHOTS. See `tools/local/gallery.ts`. */
export default defineConfig(journeys, {
  testDir: '.',
  testMatch: '*.shots.ts',
  globalSetup: '../start.ts',
  outputDir: '../../../test-results',
  timeout: 60_000,
  use: { screenshot: 'off', contextOptions: { reducedMotion: 'reduce' } },
});
