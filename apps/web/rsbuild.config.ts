import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';

/** The API during `npm run dev`; in production one server answers both. */
const api = process.env.API_ORIGIN ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [pluginReact()],
  source: { entry: { index: './main.tsx' } },
  html: {
    template: './index.html',
    inject: 'body',
    scriptLoading: 'defer',
  },
  output: {
    distPath: { root: 'dist' },
    cssModules: { localIdentName: '[local]-[hash:base64:4]' },
    // The content security policy allows neither inline scripts nor inline styles.
    inlineScripts: false,
    inlineStyles: false,
    dataUriLimit: 0,
    legalComments: 'none',
    sourceMap: { js: false },
  },
  performance: { printFileSize: false },
  server: { proxy: { '/api': api, '/emulated': api } },
  tools: {
    rspack(config) {
      config.output ??= {};
      // Specification, section 9: a chunk has 120 seconds to arrive.
      config.output.chunkLoadTimeout = 120_000;
      // All CSS arrives with the entry: a lazy style sheet that fails would not say "Loading chunk failed".
      const splitChunks = config.optimization?.splitChunks;
      if (splitChunks) {
        splitChunks.cacheGroups = {
          ...splitChunks.cacheGroups,
          styles: { name: 'index', type: 'css/mini-extract', chunks: 'all', enforce: true, priority: 100 },
        };
      }
    },
  },
});
