import { defineConfig, rspack } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import { pluginCountries } from './build/countries.ts';
import { pluginDroppable } from './build/droppable.ts';
import { pluginScriptFiles } from './build/scriptFiles.ts';

/** The API during `npm run dev`; in production one server answers both. */
const api = process.env.API_ORIGIN ?? 'http://127.0.0.1:3000';

const isProduction = process.env.NODE_ENV === 'production';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [pluginReact(), pluginDroppable(), pluginCountries(), pluginScriptFiles()],
  html: {
    template: './index.html',
    inject: 'body',
    scriptLoading: 'defer',
  },
  output: {
    distPath: { root: 'dist' },
    // The names are in the style sheet, in the scripts and in Get Started's markup: all three are the first load.
    cssModules: { localIdentName: isProduction ? '[hash:base64:5]' : '[local]-[hash:base64:4]' },
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

  server: { proxy: { '/api': api } },
  environments: {
    web: {
      source: { entry: { index: './main.tsx' } },
      tools: {
        rspack(config) {
          // Chromium then compiles all of a file on another thread while it comes, and not each function when a press first
          // needs it. What no step waits for does without: the line is 25 bytes in every file.
          config.plugins.push(
            new rspack.BannerPlugin({
              banner: '//# allFunctionsCalledOnLoad',
              raw: true,
              test: /\/(index|shared|start|studentDetails|membership|checkout|toaster)\.\w+\.js$/,
              stage: rspack.Compilation.PROCESS_ASSETS_STAGE_OPTIMIZE_SIZE + 1,
            }),
          );
          config.output ??= {};
          // Specification, section 9: a chunk has 120 seconds to arrive.
          config.output.chunkLoadTimeout = 120_000;
          // One file for the first load: together the libraries and the first screen compress better than apart.
          // All CSS arrives with it: a lazy style sheet that fails would not say "Loading chunk failed".
          config.optimization ??= {};
          config.optimization.splitChunks = {
            chunks: 'async',
            // Bytes as written. What two screens share is worth a request of its own from about a kilobyte as sent.
            minSize: 4000,
            cacheGroups: {
              // What nearly every screen but the first needs: the calls, their sentences, prices. Once, not in each.
              shared: { name: 'shared', minChunks: 5, minSize: 0, priority: 50 },
              // And what the steps share, which is too little for a request of its own.
              steps: {
                name: 'shared',
                test: /(ProgressBar|Skeleton|answerAhead)\.tsx?$/,
                minSize: 0,
                priority: 50,
              },
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
    // What the server uses once at start: dist/server/render.js (see render.tsx).
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
