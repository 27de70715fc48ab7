import { defineConfig } from '@rsbuild/core';

/** The server in one file; the process that looks into documents and the thread that makes papers in others (docs/decisions/0027). */
export default defineConfig({
  root: import.meta.dirname,
  source: {
    entry: {
      server: './main.ts',
      inspector: './documents/inspectorProcess.ts',
      printer: './certificate/printerThread.ts',
    },
  },
  output: {
    target: 'node',
    distPath: { root: 'dist', js: '' },
    // The first three have files beside them; the last are large and needed for buckets, and where spans are sent, alone.
    externals: [
      '@fastify/swagger-ui',
      'pdfkit',
      'fontkit',
      /^@aws-sdk\//,
      /^@opentelemetry\/(context|exporter|resources|sdk)/,
    ],
  },
  // An add-on that `pg` would take instead of itself where somebody has installed it.
  resolve: { alias: { 'pg-native': false } },
  performance: { printFileSize: false },
});
