import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompress, constants, gzipSync } from 'node:zlib';
import staticFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Site } from '#contract/schemas.ts';
import type { ScriptFiles } from '#contract/scriptFiles.ts';
import {
  leadsTo,
  NOT_FOUND_TITLE,
  type ScreenName,
  screenAt,
  screenPaths,
  screenTitles,
} from '#core/navigation.ts';
import { paymentsHost } from '#core/paymentsHost.ts';
import { escapeHtml } from '../escapeHtml.ts';
import { isForPrograms } from './comeBack.ts';
import { nothingHere } from './errors.ts';

/** The web app's HTML, rendered once at start with the society's data. */
export interface Page {
  /** The society's icon for tabs and home screens, a PNG. */
  icon: Buffer;
  /** The page with the Get Started screen prerendered, for that screen's paths. */
  getStarted: string;
  /** The page for all other paths. It shows a placeholder until the app has rendered. */
  waiting: string;
  /** The hash of the inlined style sheet, for the content security policy. */
  styleHash: string;
  /** For each screen, the `Link` header that preloads the screen's scripts, and connects to the card provider if it has a card form. */
  links: Partial<Record<ScreenName, string>>;
}

const YEAR_SECONDS = 365 * 86_400;
const FOR_EVER = `public, max-age=${YEAR_SECONDS}, immutable`;
const fileTypes = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** Reads the web app's build (`apps/web/dist`) and inserts the society's data into its HTML. */
export async function writePage(buildDir: string, site: Site, icon: Buffer): Promise<Page> {
  const [template, scripts] = ['index.html', 'scripts.json'].map((name) => resolve(buildDir, name)) as [
    string,
    string,
  ];
  for (const file of [template, scripts])
    if (!existsSync(file))
      throw new Error(
        `The web app is not built, or not by this version: ${file} is missing. \`npm start\` builds it.`,
      );
  const { renderGetStarted, renderWaiting } = (await import(
    // The server's bundler must not bundle this file, which is part of the web app's build.
    /* rspackIgnore: true */ pathToFileURL(resolve(buildDir, 'server/render.js')).href
  )) as Record<'renderGetStarted' | 'renderWaiting', (site: Site) => string>;

  const { html, css } = takeStyles(readFileSync(template, 'utf8'), buildDir);
  const { gold, red } = site.society.colours;
  const style = `${css}:root{--gold:${gold};--red:${red}}`;
  const write = (markup: string) =>
    fill(html, {
      '</head>': `<style>${style}</style></head>`,
      '<!--app-->': markup,
      '<!--site-->': `<script type="application/json" id="site">${dataForScript(site)}</script>`,
    }).replaceAll('%society%', () => escapeHtml(site.society.name));
  return {
    icon,
    getStarted: write(renderGetStarted(site)),
    waiting: write(renderWaiting(site)),
    styleHash: `'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    links: scriptLinks(JSON.parse(readFileSync(scripts, 'utf8')) as ScriptFiles, site),
  };
}

/**
 * Returns the `Link` header of each screen. The entry script comes first, since every screen needs it. Get Started has no such
 * header, because it is prerendered.
 */
function scriptLinks({ index, downloads }: ScriptFiles, { payments }: Site): Page['links'] {
  const links: Page['links'] = {};
  for (const name of Object.keys(screenPaths) as ScreenName[]) {
    if (name === 'getStarted') continue;
    const wanted = new Set([...(downloads[name] ?? []), ...(downloads[leadsTo[name] ?? name] ?? [])]);
    links[name] = [
      `<${index}>; rel=preload; as=script`,
      ...[...wanted].map((file) => `<${file}>; rel=preload; as=script; fetchpriority=low`),
      ...(name === 'pay' || (leadsTo[name] ?? name) === 'checkout'
        ? [`<${paymentsHost(payments)}>; rel=preconnect`]
        : []),
    ].join(', ');
  }
  return links;
}

interface Encoded {
  identity: Buffer;
  gzip: Buffer;
  /** The page compressed by Brotli; null until the background compression is finished, shortly after the start. */
  br: Buffer | null;
  etag: string;
}

function encode(html: string): Encoded {
  const identity = Buffer.from(html);
  const etag = `W/"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`;
  const encoded: Encoded = { identity, gzip: gzipSync(identity, { level: 9 }), br: null, etag };
  // A window of 2^17 bytes. Brotli's default window of 4 MiB would take a hundred times the page's size in memory.
  const params = { [constants.BROTLI_PARAM_LGWIN]: 17 };
  brotliCompress(identity, { params }, (error, br) => {
    if (!error) encoded.br = br;
  });
  return encoded;
}

/**
 * Serves the build's files under /static, and the page for every other path outside /api. Browsers may cache the files for a year,
 * since their names contain a hash. A path without a screen gets the page with status 404, from which crawlers and scripts see that
 * nothing is there. For a file that is not in this build, calls `otherFile` with the path below /static; if that returns null,
 * answers 404 without the page.
 */
export async function servePage(
  app: FastifyInstance,
  buildDir: string,
  page: Page,
  otherFile: (path: string) => Promise<Buffer | null>,
): Promise<void> {
  await app.register(
    async (files) => {
      files.setNotFoundHandler(async (request, reply) => {
        const [, path, type] = /^\/static\/([\w/.-]+\.(js|css|json))(?:\?|$)/.exec(request.url) ?? [];
        const file = path === undefined ? null : await otherFile(path);
        if (!file) {
          // Not cached: a file that is missing now may be there when another server has started.
          void reply.header('cache-control', 'no-store');
          return nothingHere(request, reply);
        }
        void reply
          .type(fileTypes[type as keyof typeof fileTypes])
          .headers({ 'cache-control': FOR_EVER, vary: 'accept-encoding' });
        if (preferredEncoding(request.headers['accept-encoding'], { br: null }) === 'identity')
          return reply.send(file);
        return reply.header('content-encoding', 'gzip').send(gzipSync(file));
      });
      await files.register(staticFiles, {
        root: resolve(buildDir, 'static'),
        prefix: '/',
        immutable: true,
        maxAge: YEAR_SECONDS * 1_000,
        index: false,
        preCompressed: true,
      });
    },
    { prefix: '/static' },
  );
  const getStarted = encode(titled(page.getStarted, screenTitles.getStarted));
  /** The pages that show a placeholder, by their title. Each is made when it is first requested. */
  const waitings = new Map<string, Encoded>();
  const waiting = (title: string) => {
    const document = waitings.get(title) ?? encode(titled(page.waiting, title));
    waitings.set(title, document);
    return document;
  };
  const encoded = (request: FastifyRequest, reply: FastifyReply, document: Encoded) => {
    const encoding = preferredEncoding(request.headers['accept-encoding'], document);
    if (encoding !== 'identity') void reply.header('content-encoding', encoding);
    return reply.type('text/html; charset=utf-8').send(document[encoding]!);
  };
  const answer = (request: FastifyRequest, reply: FastifyReply, document: Encoded, link?: string) => {
    void reply.headers({ 'cache-control': 'no-cache', vary: 'accept-encoding', etag: document.etag });
    if (link) void reply.header('link', link);
    if (request.headers['if-none-match'] === document.etag) return reply.status(304).send();
    return encoded(request, reply, document);
  };
  const hidden = { schema: { hide: true } };
  for (const path of ['/favicon.ico', '/apple-touch-icon.png'])
    app.get(path, hidden, (_, reply) =>
      reply.type('image/png').header('cache-control', 'public, max-age=86400').send(page.icon),
    );
  for (const [name, path] of Object.entries(screenPaths) as [ScreenName, string][]) {
    const document = () => (name === 'getStarted' ? getStarted : waiting(screenTitles[name]));
    app.get(path, hidden, (request, reply) => {
      keepFromIndexes(name, reply);
      return answer(request, reply, document(), page.links[name]);
    });
  }
  app.get('/', hidden, (request, reply) => answer(request, reply, getStarted));
  app.get('/*', hidden, (request, reply) => {
    if (isForPrograms(request.url)) return reply.callNotFound();
    const screen = screenAt(request.url.split('?')[0]!);
    if (screen) {
      keepFromIndexes(screen, reply);
      return answer(request, reply, waiting(screenTitles[screen]));
    }
    void reply.status(404).headers({ 'cache-control': 'no-cache', vary: 'accept-encoding' });
    return encoded(request, reply, waiting(NOT_FOUND_TITLE));
  });
}

/** Keeps the page that verifies a membership out of search engines. */
function keepFromIndexes(screen: ScreenName, reply: FastifyReply): void {
  if (screen === 'verify') void reply.header('x-robots-tag', 'noindex');
}

function titled(html: string, title: string): string {
  return html.replace(/<title>.*?<\/title>/s, `<title>${escapeHtml(title)}</title>`);
}

function preferredEncoding(
  accepted: string | string[] | undefined,
  { br }: Pick<Encoded, 'br'>,
): 'br' | 'gzip' | 'identity' {
  const names = String(accepted ?? '')
    .split(/\s*,\s*/)
    .filter((one) => !/;\s*q=0(\.0*)?$/.test(one))
    .map((one) => one.split(';')[0]);
  return br && names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : 'identity';
}

/** Inlines the build's style sheet, which saves one request before the first paint. */
function takeStyles(html: string, buildDir: string): { html: string; css: string } {
  let css = '';
  const without = html.replace(/<link[^>]*href="(\/static\/css\/[^"]+)"[^>]*>/g, (_, href: string) => {
    css += readFileSync(resolve(buildDir, `.${href}`), 'utf8');
    return '';
  });
  if (css === '') throw new Error('The web app was built without a style sheet.');
  return { html: without, css };
}

function fill(html: string, places: Record<string, string>): string {
  let filled = html;
  for (const [place, text] of Object.entries(places)) {
    if (!filled.includes(place)) throw new Error(`The web app's page has no place for ${place}.`);
    filled = filled.replace(place, () => text);
  }
  return filled;
}

/**
 * Returns the site's data as JSON in which no `</script>` can occur. The content security policy does not block the script
 * element with this JSON, since the element contains data and no code.
 */
function dataForScript(site: Site): string {
  return JSON.stringify(site)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
