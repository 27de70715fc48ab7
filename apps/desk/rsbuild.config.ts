import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';

/**
 * The first load is one script, and one style sheet for all pages. Code that fewer visits need, such as other pages, is loaded
 * later. The frame that shows documents (viewer/) is a separate page, since it has no origin.
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
    // The decoders of the frame's pictures are bundled as bytes in scripts, because the frame has no network access but may load
    // scripts.
    rspack: { module: { rules: [{ test: /\.wasm$/, type: 'asset/bytes' }] } },
  },
  splitChunks: {
    preset: 'none',
    chunks: 'async',
    cacheGroups: {
      // The styles of pages that are loaded later are part of the first load, so that nothing moves when such a page appears.
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
