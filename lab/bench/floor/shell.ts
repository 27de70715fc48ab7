import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import staticFiles from '@fastify/static';
import Fastify from 'fastify';
import { listen } from './listen.ts';

/**
 * Usage: `shell.ts SERVER`. Serves the minimal first page with which Get Started is compared: an empty page that contains the
 * society's data and loads its style sheet from a separate file. API calls of the page are forwarded to SERVER.
 */

const server = process.argv[2]!;
const dist = resolve(import.meta.dirname, '../../../apps/web/dist');

const { data } = (await (await fetch(`${server}/api/public/site`)).json()) as { data: object };
const site = JSON.stringify(data).replaceAll('<', '\\u003c');
const page = readFileSync(join(dist, 'index.html'), 'utf8')
  .replace('<!--app-->', '')
  .replace('<!--site-->', () => `<script type="application/json" id="site">${site}</script>`);

const app = Fastify({ logger: false });
const forever = { immutable: true, maxAge: '365d', preCompressed: true };
await app.register(staticFiles, { root: join(dist, 'static'), prefix: '/static/', ...forever });
app.get('/api/*', async (request, reply) => {
  const answer = await fetch(server + request.url);
  return reply
    .code(answer.status)
    .type(answer.headers.get('content-type') ?? 'application/json')
    .send(await answer.text());
});
app.get('/*', (_, reply) => reply.type('text/html; charset=utf-8').send(page));

await listen(app);
