import { defineConfig, type Rspack } from '@rsbuild/core';

const SERVER = 'server.js';

/**
 * Makes the file a function, so that `start.mjs` need not copy it to do so, and writes what is not ASCII as `\\u…`: one such
 * letter, in a comment too, would have V8 keep the whole file at twice its size.
 */
const asFunction: Rspack.RspackPluginInstance = {
  apply({ hooks, webpack: { Compilation, sources } }) {
    hooks.thisCompilation.tap('asFunction', (compilation) =>
      compilation.hooks.processAssets.tap(
        { name: 'asFunction', stage: Compilation.PROCESS_ASSETS_STAGE_REPORT },
        (assets) => {
          if (SERVER in assets)
            compilation.updateAsset(SERVER, (old) => {
              const escaped = String(old.source()).replace(
                /[^\0-\x7f]/g,
                (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
              );
              return new sources.RawSource(
                `(function (exports, require, module, __filename, __dirname) {${escaped}\n})`,
              );
            });
        },
      ),
    );
  },
};

/** The server in one file, which `start.mjs` runs, and each thread of it in another. Readable, since errors name its lines. */
export default defineConfig({
  root: import.meta.dirname,
  source: {
    entry: { server: './main.ts' },
    define: { 'import.meta.dirname': '__dirname' },
  },
  resolve: {
    alias: {
      // An add-on that `pg` would take instead of itself where somebody has installed it.
      'pg-native': false,
      // @fastify/static lists a folder's files with it when it is told to, which it is not.
      glob: false,
    },
  },
  output: {
    target: 'node',
    module: false,
    distPath: { root: 'dist', js: '' },
    filename: { js: SERVER },
    minify: false,
    // Loaded where they are needed alone: the one has files beside it, the other is large.
    externals: ['@fastify/swagger-ui', /^@aws-sdk\//],
  },
  performance: { printFileSize: false },
  tools: {
    rspack(config) {
      config.module ??= {};
      config.module.parser = {
        ...config.module.parser,
        // What is imported later is in the file too, and runs when it is imported.
        javascript: { dynamicImportMode: 'eager', url: false },
      };
      config.node = { ...config.node, __dirname: false, __filename: false };
      config.output = {
        ...config.output,
        library: { type: 'commonjs2' },
        // A thread's file lies beside the server's, and node goes by its name.
        publicPath: '',
        chunkFilename: '[name].cjs',
        // A module as `(function …)` is compiled with its file; as a method only when it is called, after it was read for nothing.
        environment: { ...config.output?.environment, methodShorthand: false },
      };
      config.plugins.push(asFunction);
      // NODE_ENV is that of the machine that runs it.
      config.optimization = {
        ...config.optimization,
        nodeEnv: false,
        moduleIds: 'named',
      };
    },
  },
});
