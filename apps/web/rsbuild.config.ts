import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';

/** The API during `npm run dev`; in production one server answers both. */
const api = process.env.API_ORIGIN ?? 'http://127.0.0.1:3000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [pluginReact()],
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
    minify: {
      jsOptions: {
        minimizerOptions: {
          compress: { ecma: 2020, passes: 3 },
          format: { ecma: 2020, comments: false },
        },
      },
    },
  },
  performance: { printFileSize: false },

  server: { proxy: { '/api': api, '/emulated': api } },
  environments: {
    web: {
      source: { entry: { index: './main.tsx' } },
      tools: {
        rspack(config) {
          config.output ??= {};
          // Specification, section 9: a chunk has 120 seconds to arrive.
          config.output.chunkLoadTimeout = 120_000;
          // One file for the first load: together the libraries and the first screen compress better than apart.
          // All CSS arrives with it: a lazy style sheet that fails would not say "Loading chunk failed".
          config.optimization ??= {};
          config.optimization.splitChunks = {
            chunks: 'async',
            cacheGroups: {
              styles: {
                name: 'index',
                type: 'css/mini-extract',
                chunks: 'all',
                enforce: true,
                priority: 100,
              },
            },
          };
        },
      },
    },
    // What the server uses once at start: dist/server/render.js, with render(site) (see render.tsx).
    server: {
      source: { entry: { render: './render.tsx' } },
      output: {
        target: 'node',
        module: true,
        distPath: { js: 'server' },
        filename: { js: '[name].js' },
        emitCss: false,
        emitAssets: false,
        minify: false,
      },
      tools: {
        rspack(config) {
          config.output ??= {};
          config.output.asyncChunks = false;
        },
      },
    },
  },
});
