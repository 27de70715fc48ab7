import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import staticFiles from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { Site } from '#contract/schemas.ts';

/**
 * The web app's build: hashed files under /static for ever, and one page for every other address, written once at
 * start with the society's data. A missing file under /static is 404, never the page.
 */
export async function servePage(app: FastifyInstance, buildDir: string, site: Site): Promise<void> {
  const template = resolve(buildDir, 'index.html');
  if (!existsSync(template))
    throw new Error(`The web app is not built: ${template} is missing. \`npm start\` builds it.`);
  const page = writePage(readFileSync(template, 'utf8'), site);
  await app.register(staticFiles, {
    root: resolve(buildDir, 'static'),
    prefix: '/static/',
    immutable: true,
    maxAge: '365d',
    index: false,
  });
  app.get('/favicon.ico', { schema: { hide: true } }, (_, reply) => reply.status(204).send());
  app.get('/*', { schema: { hide: true } }, (request, reply) => {
    if (/^\/(api|static|emulated)(\/|$)/.test(request.url)) return reply.callNotFound();
    return reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(page);
  });
}

/** Data in a script element of no executable type: the policy that forbids inline scripts does not concern it. */
export function writePage(template: string, site: Site): string {
  const data = JSON.stringify(site)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  if (!template.includes('<!--site-->'))
    throw new Error('The web page has no place for the society (<!--site-->).');
  return template
    .replace('<!--site-->', () => `<script type="application/json" id="site">${data}</script>`)
    .replaceAll('%society%', () => escapeHtml(site.society.name));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
