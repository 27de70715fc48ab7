import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import staticFiles from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { deskCalls } from '#contract/deskCalls.ts';
import { escapeHtml } from '../platform/escapeHtml.ts';
import { nothingHere } from '../platform/http/errors.ts';
import { headersOfCalls } from '../platform/http/securityHeaders.ts';
import type { Deps } from './deps.ts';
import { tokenOf } from './sessions.ts';

const YEAR_SECONDS = 365 * 86_400;
/**
 * For a browser that seems to be signed in, the page preloads the calls of Today while its script is still loading. On a slow
 * line this saves a fifth of a second.
 */
const PRELOADS = [deskCalls.getMe, deskCalls.getToday]
  .map(({ path }) => `<link rel="preload" as="fetch" crossorigin="use-credentials" href="${path}">`)
  .join('');

/**
 * Serves the built desk (`apps/desk/dist`): its files below /static, which browsers may cache, at /viewer the frame in which
 * documents are shown, and at every other path outside /api its only page. The page has the society's name, its colours, the mode
 * and the identity provider's name; it fetches all other data by calls.
 */
export function servePages(
  app: FastifyInstance,
  { config, society, icon, deskUrl }: Deps & { deskUrl: string; icon: Buffer },
  deskBuild: string,
): void {
  const template = join(deskBuild, 'index.html');
  if (!existsSync(template))
    throw new Error(`The desk is not built: ${template} is missing. \`npm start\` builds it.`);
  const { name, colours } = society.society;
  const style = `:root{--gold:${colours.gold};--red:${colours.red}}`;
  const page = readFileSync(template, 'utf8')
    .replace('</head>', () => `<style>${style}</style></head>`)
    .replaceAll('%society%', () => escapeHtml(name))
    .replaceAll('%mode%', config.mode)
    .replaceAll('%provider%', () => escapeHtml(config.desk?.provider?.name ?? ''));
  const ofCalls = headersOfCalls(config);
  const headers = {
    ...ofCalls,
    'content-security-policy': policy(`'sha256-${createHash('sha256').update(style).digest('base64')}'`),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  };

  void app.register(
    async (files) => {
      // Not cached: after an update, another server may have a file that is missing here.
      files.setNotFoundHandler(nothingHere);
      await files.register(staticFiles, {
        root: join(deskBuild, 'static'),
        prefix: '/',
        index: false,
        preCompressed: true,
        cacheControl: false,
        setHeaders: (reply) => {
          void reply.header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`);
          // The viewer has an opaque origin, so browsers treat these files as cross-origin.
          void reply.header('cross-origin-resource-policy', 'cross-origin');
        },
      });
    },
    { prefix: '/static' },
  );
  app.get('/favicon.ico', (_, reply) =>
    reply.type('image/png').header('cache-control', 'public, max-age=86400').send(icon),
  );
  const viewer = readFileSync(join(deskBuild, 'viewer.html'), 'utf8');
  app.get('/viewer', (_, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({ ...ofCalls, 'content-security-policy': viewerPolicy(deskUrl) })
      .send(viewer),
  );
  const today = page.replace('</head>', `${PRELOADS}</head>`);
  app.get('/*', (request, reply) => {
    if (/^\/api(\/|$|\?)/.test(request.url)) return nothingHere(request, reply);
    const isToday = request.url === '/' && tokenOf(request, deskUrl) !== null;
    return reply
      .type('text/html; charset=utf-8')
      .headers(headers)
      .send(isToday ? today : page);
  });
}

/** Returns the content security policy of pages. It allows only our own files, and the inline style with this hash. */
function policy(styleHash: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${styleHash}`,
    "img-src 'self'",
    "connect-src 'self'",
    // If a document could navigate its frame to another site, it could send its contents there in the URL.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';');
}

/**
 * Returns the policy of the frame that shows a document. The frame has an opaque origin, runs only our scripts and has no network
 * access. Code in a hostile document can therefore neither read the desk's data nor send anything out.
 */
function viewerPolicy(deskUrl: string): string {
  return [
    "default-src 'none'",
    // The image decoders are WebAssembly, which has no more rights than the scripts here.
    `script-src ${deskUrl}/static/ 'wasm-unsafe-eval'`,
    `style-src ${deskUrl}/static/`,
    'img-src blob: data:',
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join(';');
}
