import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import { pluginCountries } from './build/countries.ts';
import { pluginScriptFiles } from './build/scriptFiles.ts';

/** The origin of the API during `npm run dev`. In production the same server answers pages and API. */
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
    // The content security policy forbids inline scripts and styles.
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
      // The first load has only one script. Code that several screens share is split into its own chunks if it is large. There
      // must not be many: a browser loads six scripts at a time over HTTP/1.1, and a screen that needs more waits for another
      // round trip.
      splitChunks: {
        preset: 'none',
        chunks: 'async',
        minSize: 14000,
        cacheGroups: {
          // All CSS is loaded with the entry. If a lazy screen had its own style sheet and that failed to load, the message would
          // not be "Loading chunk … failed", which the specification requires (section 8).
          styles: { name: 'index', type: 'css/mini-extract', chunks: 'all', enforce: true },
        },
      },
      // A chunk fails if it has not arrived after 120 seconds (specification, section 9).
      tools: { rspack: { output: { chunkLoadTimeout: 120_000 } } },
    },
    // Builds dist/server/render.js, with which the server renders the pages once at start (app/render.tsx).
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
