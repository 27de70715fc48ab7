import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRsbuild } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import Fastify from 'fastify';

/**
 * The strictest content security policy under which a page can take card payments: nothing inline, and no other origin than the
 * card form's.
 */
const policyWith = (cardForm: string, frames: string) =>
  `default-src 'none'; script-src 'self' ${cardForm}; frame-src ${frames}; connect-src 'self' ${cardForm}; style-src 'self'; form-action 'self'; base-uri 'none'`;

const htmlWith = (cardForm: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pay</title>
<script src="${cardForm}/stripe.js"></script>
<main><h1>Pay</h1><div id="root"></div></main>
<script src="/page.js"></script>
</html>`;

/**
 * Builds the test page and serves it, from another origin than the emulator's, as a society's page has another origin than
 * Stripe. `opener` is the page's Cross-Origin-Opener-Policy; `frames` are the sources from which the page allows frames.
 */
export async function serveTestPage(
  emulator: string,
  { opener = 'same-origin-allow-popups', frames = emulator } = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'stripe-test-page-'));
  const rsbuild = await createRsbuild({
    config: {
      mode: 'production',
      plugins: [pluginReact()],
      source: { entry: { page: join(import.meta.dirname, 'page.tsx') } },
      output: {
        distPath: { root: folder, js: '' },
        filename: { js: 'page.js' },
        legalComments: 'none',
        minify: false,
      },
      performance: { chunkSplit: { strategy: 'all-in-one' }, printFileSize: false },
      logLevel: 'error',
    },
  });
  await (await rsbuild.build()).close();
  const script = readFileSync(join(folder, 'page.js'));

  const app = Fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (_, reply) => {
    reply.headers({
      'content-security-policy': policyWith(emulator, frames),
      'cross-origin-opener-policy': opener,
    });
  });
  app.get('/page.js', (_, reply) => reply.type('text/javascript').send(script));
  app.get('/*', (_, reply) => reply.type('text/html').send(htmlWith(emulator)));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, close: () => app.close() };
}
