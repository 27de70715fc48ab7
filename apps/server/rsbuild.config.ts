import { defineConfig } from '@rsbuild/core';

/**
 * Bundles the server into one file. The process that inspects documents and the thread that makes papers are bundled into
 * separate files (docs/decisions/0002).
 */
export default defineConfig({
  root: import.meta.dirname,
  source: {
    entry: {
      server: './main.ts',
      inspector: './documents/inspectorProcess.ts',
      printer: './membership/printerThread.ts',
    },
  },
  output: {
    target: 'node',
    distPath: { root: 'dist', js: '' },
    // The first three packages read files next to their own code. The last two groups are large, and are needed only for storage
    // in buckets and for exporting spans.
    externals: [
      '@fastify/swagger-ui',
      'pdfkit',
      'fontkit',
      /^@aws-sdk\//,
      /^@opentelemetry\/(context|exporter|resources|sdk)/,
    ],
  },
  // `pg` looks for this optional native add-on, which is not installed. The alias makes the bundler leave it out.
  resolve: { alias: { 'pg-native': false } },
  performance: { printFileSize: false },
});
