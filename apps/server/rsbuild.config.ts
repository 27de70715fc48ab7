import { defineConfig } from '@rsbuild/core';

/** The server in few files; what it loads later is in files of its own. Readable, since errors name its lines. */
export default defineConfig({
  root: import.meta.dirname,
  source: { entry: { main: './main.ts' } },
  resolve: {
    // An add-on that `pg` would take instead of itself where somebody has installed it.
    alias: { 'pg-native': false },
  },
  output: {
    target: 'node',
    module: true,
    distPath: { root: 'dist', js: '' },
    filename: { js: '[name].js' },
    minify: false,
    // Loaded where they are needed alone: the one has files beside it, the other is large.
    externals: ['@fastify/swagger-ui', /^@aws-sdk\//],
  },
  performance: { printFileSize: false },
  tools: {
    rspack(config) {
      config.module ??= {};
      // `import.meta` and NODE_ENV are those of the machine that runs it.
      config.module.parser = { ...config.module.parser, javascript: { importMeta: false, url: false } };
      config.optimization = {
        ...config.optimization,
        nodeEnv: false,
        moduleIds: 'named',
        chunkIds: 'named',
      };
    },
  },
});
