import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';

/**
 * One script and one style sheet for all pages; only what a few visits need is loaded later. The frame in which documents are shown
 * (viewer/) is a page of its own, since it has no origin.
 */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [pluginReact()],
  source: { entry: { index: './app/main.tsx', viewer: './viewer/main.ts' } },
  html: {
    template: ({ entryName }) => (entryName === 'viewer' ? './viewer/index.html' : './index.html'),
    inject: 'head',
    scriptLoading: 'defer',
  },
  output: {
    distPath: { root: 'dist' },
    // The content security policy forbids inline scripts.
    inlineScripts: false,
    inlineStyles: false,
    dataUriLimit: 0,
    legalComments: 'none',
    sourceMap: { js: false },
  },
  tools: {
    // The frame has no network, but may load scripts: the decoders of its pictures are bytes in scripts.
    rspack: { module: { rules: [{ test: /\.wasm$/, type: 'asset/bytes' }] } },
  },
  splitChunks: {
    preset: 'none',
    chunks: 'async',
    cacheGroups: {
      // A page that is loaded later has its styles from the first load on, so that nothing moves.
      styles: {
        name: 'index',
        type: 'css/mini-extract',
        chunks: (chunk) => chunk.name !== 'viewer',
        enforce: true,
      },
    },
  },
  performance: { printFileSize: false },
});
