import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRsbuild } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import Fastify from 'fastify';

/** As strict as a page that takes card payments should be: neither inline scripts nor inline styles. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'";

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pay</title>
<script src="/emulated/stripe/stripe.js"></script>
<main><h1>Pay</h1><div id="root"></div></main>
<script src="/page.js"></script>
</html>`;

/** Builds the test page and serves it with the emulator behind `/emulated/stripe/`, as the society's server does. */
export async function serveTestPage(emulator: string): Promise<{ url: string; close(): Promise<void> }> {
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
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  app.addHook('onRequest', async (_, reply) => {
    reply.header('content-security-policy', POLICY);
  });
  app.get('/page.js', (_, reply) => reply.type('text/javascript').send(script));
  app.all('/emulated/stripe/*', async (request, reply) => {
    const type = request.headers['content-type'];
    const response = await fetch(emulator + request.url.slice('/emulated/stripe'.length), {
      method: request.method,
      headers: type ? { 'content-type': type } : {},
      ...(request.method === 'POST' && { body: request.body as Buffer<ArrayBuffer> }),
    });
    return reply
      .code(response.status)
      .type(response.headers.get('content-type') ?? 'text/plain')
      .send(Buffer.from(await response.arrayBuffer()));
  });
  app.get('/*', (_, reply) => reply.type('text/html').send(HTML));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, close: () => app.close() };
}
