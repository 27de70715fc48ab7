import { defineConfig } from '@rsbuild/core';

/** The server in one file, and the process that looks into documents in another (docs/decisions/0027). */
export default defineConfig({
  root: import.meta.dirname,
  source: { entry: { server: './main.ts', inspector: './documents/inspectorProcess.ts' } },
  output: {
    target: 'node',
    distPath: { root: 'dist', js: '' },
    // The first has files beside it, the second is large and needed for buckets alone.
    externals: ['@fastify/swagger-ui', /^@aws-sdk\//],
  },
  // An add-on that `pg` would take instead of itself where somebody has installed it.
  resolve: { alias: { 'pg-native': false } },
  performance: { printFileSize: false },
});
