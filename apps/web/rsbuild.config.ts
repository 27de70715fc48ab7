import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import { pluginCountries } from './build/countries.ts';
import { pluginScriptFiles } from './build/scriptFiles.ts';

/** The API during `npm run dev`. In production one server answers both pages and API. */
const api = process.env.API_ORIGIN ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [pluginReact(), pluginCountries(), pluginScriptFiles()],
  html: {
    template: './index.html',
    inject: 'body',
    scriptLoading: 'defer',
  },
  output: {
    distPath: { root: 'dist' },
    // The content security policy allows neither inline scripts nor inline styles.
    inlineScripts: false,
    inlineStyles: false,
    dataUriLimit: 0,
    legalComments: 'none',
    sourceMap: { js: false },
  },
  performance: { printFileSize: false },

  server: { proxy: { '/api': api } },
  environments: {
    web: {
      source: { entry: { index: './app/main.tsx' } },
      // One script for the first load. Code that several screens share is in separate chunks.
      splitChunks: {
        preset: 'none',
        chunks: 'async',
        minSize: 4000,
        cacheGroups: {
          // All CSS is in the entry: if a lazy style sheet failed, the error would not say "Loading chunk failed".
          styles: { name: 'index', type: 'css/mini-extract', chunks: 'all', enforce: true },
        },
      },
      // A chunk has 120 seconds to arrive (specification, section 9).
      tools: { rspack: { output: { chunkLoadTimeout: 120_000 } } },
    },
    // The renderer that the server uses once at start: dist/server/render.js (see render.tsx).
    server: {
      source: { entry: { render: './app/render.tsx' } },
      output: {
        target: 'node',
        module: true,
        distPath: { js: 'server' },
        filename: { js: '[name].js' },
        emitCss: false,
        emitAssets: false,
        minify: false,
      },
      tools: { rspack: { output: { asyncChunks: false } } },
    },
  },
});
