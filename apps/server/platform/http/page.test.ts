import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { settingsFor } from '../../../../tests/harness/standIns.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { readSociety } from '../../society/readSociety.ts';
import { toSite } from '../../society/wire.ts';
import { readConfig } from '../config/config.ts';
import { addressOptions, handleErrors, NO_DATABASE } from './errors.ts';
import { createLog } from './logging.ts';
import { type Page, servePage, writePage } from './page.ts';
import { keepPageFiles, otherPageFile } from './pageFiles.ts';
import { openWaitingRoom } from './waitingRoom.ts';

const societyFolder = join(import.meta.dirname, '../../../../society');
const society = readSociety(join(societyFolder, 'society.yaml'));
const icon = readFileSync(join(societyFolder, 'icon.png'));
const site = toSite(society, {
  payments: { publishableKey: 'pk_test', scriptUrl: null },
  uploadMaxBytes: null,
  sendsLetters: true,
  apiUrl: '',
});

/**
 * Serves a small build of the web app that has each kind of file of a real build. `others`: the files of another build by their path
 * below /static.
 */
async function build(
  t: TestContext,
  given = site,
  others: Record<string, string> = {},
): Promise<{ app: FastifyInstance; page: Page }> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-page-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'static/css'), { recursive: true });
  mkdirSync(join(folder, 'server'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'static/css/index.1.css'), 'body{margin:0}');
  writeFileSync(
    join(folder, 'scripts.json'),
    JSON.stringify({
      index: '/static/js/index.js',
      downloads: {
        checkout: ['/static/js/shared.js', '/static/js/checkout.js'],
        initializeCheckout: ['/static/js/shared.js', '/static/js/begin.js'],
      },
    }),
  );
  writeFileSync(join(folder, 'static/app.js'), 'plain');
  writeFileSync(join(folder, 'static/app.js.br'), 'brotli');
  writeFileSync(
    join(folder, 'server/render.js'),
    [
      'export const renderGetStarted = (site) => "<h1>" + site.society.name + "</h1>";',
      'export const renderWaiting = () => "<p>Loading…</p>";',
    ].join('\n'),
  );
  writeFileSync(
    join(folder, 'index.html'),
    '<html><head><title>%society%</title><link href="/static/css/index.1.css" rel="stylesheet"></head><body><div id="root"><!--app--></div><!--site--></body></html>',
  );
  const page = await writePage(folder, given, icon);
  const app = Fastify(addressOptions);
  handleErrors(app);
  await servePage(app, folder, page, async (path) => (others[path] ? Buffer.from(others[path]) : null));
  t.after(() => app.close());
  return { app, page };
}

test('Get Started is painted before any script, and for other screens that one waits', async (t) => {
  const { app } = await build(t);
  const painted = async (url: string) =>
    /<div id="root">(.*?)<\/div>/.exec((await app.inject(url)).body)?.[1];
  for (const url of ['/', '/registration/get-started', '/registration/get-started?programme=undergraduate'])
    assert.equal(await painted(url), '<h1>Collegiate Honor Society</h1>');
  for (const url of ['/registration/checkout', '/upload-resume/101', '/nowhere'])
    assert.equal(await painted(url), '<p>Loading…</p>');
});

test("the style sheet is in the page with the society's colours, and its hash is the one that the policy names", async (t) => {
  const { app, page } = await build(t);
  const { body } = await app.inject('/');
  const style = /<style>(.*)<\/style>/.exec(body)?.[1] ?? '';
  assert.equal(style, 'body{margin:0}:root{--gold:#E8B23A;--red:#9E1B32}');
  assert.equal(page.styleHash, `'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  assert.doesNotMatch(body, /<link/);
});

test("nothing in the society's texts can end the element that carries them", async (t) => {
  const hostile = { ...site, society: { ...site.society, name: '</script><script>alert(1)</script>' } };
  const { page } = await build(t, hostile);
  const [, data] = /<script type="application\/json" id="site">(.*?)<\/script>/.exec(page.waiting) ?? [];
  assert.deepEqual(JSON.parse(data ?? ''), hostile);
  assert.doesNotMatch(page.waiting, /<script>alert/);
});

test('the page comes in the encoding that the browser takes, and not again when it has it', async (t) => {
  const { app } = await build(t);
  const get = (headers: Record<string, string>) => app.inject({ url: '/', headers });
  const plain = await get({});
  assert.equal(plain.headers['cache-control'], 'no-cache');
  const [gzip, none] = [await get({ 'accept-encoding': 'gzip' }), await get({ 'accept-encoding': 'br;q=0' })];
  // The page is compressed by Brotli in the background, so at first browsers get gzip.
  const modern = () => get({ 'accept-encoding': 'gzip, deflate, br' });
  let br = await modern();
  while (br.headers['content-encoding'] === 'gzip') {
    assert.equal(gunzipSync(br.rawPayload).toString(), plain.body);
    await setImmediate();
    br = await modern();
  }
  assert.equal(brotliDecompressSync(br.rawPayload).toString(), plain.body);
  assert.equal(gunzipSync(gzip.rawPayload).toString(), plain.body);
  assert.equal(none.headers['content-encoding'], undefined);
  assert.equal((await get({ 'if-none-match': String(plain.headers.etag) })).statusCode, 304);
});

test('hashed files are for ever, in the smallest form, and a missing one is never the page', async (t) => {
  const { app } = await build(t);
  const file = await app.inject({ url: '/static/app.js', headers: { 'accept-encoding': 'br' } });
  assert.deepEqual([file.body, file.headers['content-encoding']], ['brotli', 'br']);
  assert.match(String(file.headers['cache-control']), /immutable/);
  for (const url of ['/static/js/gone.js', '/api/nothing']) {
    const missing = await app.inject(url);
    assert.equal(missing.statusCode, 404, url);
    assert.match(String(missing.headers['content-type']), /json/);
  }
  assert.equal((await app.inject('/static/js/gone.js')).headers['cache-control'], 'no-store');
});

test('a file of another build is answered like one of this build', async (t) => {
  const others = { 'js/async/upgrade.2.js': 'script', 'countries/3/CA.json': '{}', 'app.js': 'not this one' };
  const { app } = await build(t, site, others);
  const get = async (path: string, accepted: string) => {
    const answer = await app.inject({ url: `/static/${path}`, headers: { 'accept-encoding': accepted } });
    const isGzip = answer.headers['content-encoding'] === 'gzip';
    const body = isGzip ? gunzipSync(answer.rawPayload).toString() : answer.body;
    return [answer.statusCode, isGzip, answer.headers['content-type'], answer.headers['cache-control'], body];
  };
  const forEver = 'public, max-age=31536000, immutable';
  const script = [200, true, 'text/javascript; charset=utf-8', forEver, 'script'];
  assert.deepEqual(await get('js/async/upgrade.2.js', 'gzip, br'), script);
  assert.deepEqual(await get('js/async/upgrade.2.js?x', 'identity'), script.with(1, false));
  const json = [200, true, 'application/json; charset=utf-8', forEver, '{}'];
  assert.deepEqual(await get('countries/3/CA.json', 'gzip'), json);
  assert.equal((await get('app.js', 'identity'))[4], 'plain', 'this build has one of that name');
  const own = await app.inject('/static/app.js');
  assert.equal(own.headers['cache-control'], forEver);
});

test('every screen’s tab says its name before any script, and so does an address that is none', async (t) => {
  const { app } = await build(t);
  const title = async (url: string) => /<title>(.*?)<\/title>/.exec((await app.inject(url)).body)?.[1];
  for (const [url, name] of [
    ['/', 'Get Started'],
    ['/registration/checkout?x=1', 'Checkout'],
    ['/Registration/Student-Details/', 'Student Details'],
    ['/registration/101/init', 'Your invitation'],
    ['/upload-resume/101', 'Upload Your Resume'],
    ['/upload-resume/101/extra', 'Page not found'],
  ] as const)
    assert.equal(await title(url), name, url);
});

test('the tab and the home screen have the society’s icon', async (t) => {
  const { app } = await build(t);
  for (const url of ['/favicon.ico', '/apple-touch-icon.png']) {
    const { rawPayload, headers } = await app.inject(url);
    assert.deepEqual([headers['content-type'], rawPayload], ['image/png', icon]);
  }
});

test('without a build there is a sentence that says what to do', async () => {
  await assert.rejects(writePage('/nowhere', site, icon), /is not built.*npm start/s);
});

test('a screen’s scripts are named with its page, also those of the screen that it leads to; Get Started names none', async (t) => {
  const { app } = await build(t);
  const files = async (url: string) =>
    [...String((await app.inject(url)).headers.link ?? '').matchAll(/<(\S+?)>; rel=preload; as=script/g)].map(
      ([, file]) => file,
    );
  assert.deepEqual(await files('/registration/checkout'), [
    '/static/js/index.js',
    '/static/js/shared.js',
    '/static/js/checkout.js',
  ]);
  assert.deepEqual(await files('/initialize/checkout?vid=101'), [
    '/static/js/index.js',
    '/static/js/shared.js',
    '/static/js/begin.js',
    '/static/js/checkout.js',
  ]);
  assert.deepEqual(await files('/upload-resume/101'), ['/static/js/index.js']);
  assert.deepEqual(
    [await files('/'), await files('/registration/get-started'), await files('/nowhere')],
    [[], [], []],
  );
});

test('screens with a card form, and those that lead there, connect to the card provider', async (t) => {
  const { app } = await build(t);
  for (const [url, connects] of [
    ['/registration/checkout', true],
    ['/initialize/checkout?vid=101', true],
    ['/pay/token', true],
    ['/registration/student-details', false],
  ] as const) {
    const link = String((await app.inject(url)).headers.link);
    assert.equal(link.endsWith(', <https://js.stripe.com>; rel=preconnect'), connects, url);
  }
});

test('an address that the site does not have is 404 with the page, and its screens are 200', async (t) => {
  const { app } = await build(t);
  const long = 'a'.repeat(5_000);
  for (const url of [
    '/metrics',
    '/wp-login.php',
    '/registration',
    '/no/such/page?a=1',
    '/upload/a/b',
    // Broken links, as after a mail client has cut or damaged them.
    '/%',
    '/%ff',
    '/registration/get-started%',
    `/${long}`,
  ]) {
    const answer = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } });
    assert.equal(answer.statusCode, 404, url);
    assert.match(gunzipSync(answer.rawPayload).toString(), /<p>Loading…<\/p>/);
    // The answer has no ETag, so that a repeated request gets 404 again instead of 304 (not modified).
    assert.deepEqual([answer.headers.etag, answer.headers['cache-control']], [undefined, 'no-cache']);
  }
  const { etag } = (await app.inject('/registration/checkout')).headers;
  const asked = { headers: { 'if-none-match': String(etag) } };
  assert.equal((await app.inject({ url: '/metrics', ...asked })).statusCode, 404);
  assert.equal((await app.inject({ url: '/registration/checkout', ...asked })).statusCode, 304);
  for (const url of [
    '/',
    '/registration/get-started/',
    '/Registration/Checkout',
    '/registration/101/init?exp=1',
    '/upload-resume/101/',
    `/upload-resume/${long}`,
    '/registration/%ff/init',
  ])
    assert.equal((await app.inject(url)).statusCode, 200, url);
});

const nowhere = {
  stripeUrl: 'http://127.0.0.1:9',
  hubspotUrl: 'http://127.0.0.1:9',
  smtpUrl: 'smtp://127.0.0.1:9',
};

test('a call whose body is still on its way while the database is waited for can send it, and is answered', async (t) => {
  const settings = settingsFor(nowhere, 'postgres://nobody@127.0.0.1:9/nothing', tmpdir());
  const room = await openWaitingRoom(
    readConfig({ ...settings, PORT: '0' }),
    createLog('silent'),
    'A society',
  );
  t.after(() => room.leave());
  const client = connect(room.port, '127.0.0.1');
  let answer = '';
  client.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  const piece = 'x'.repeat(64 * 1024);
  client.write(
    `POST /api/public/upload-resume HTTP/1.1\r\nhost: society.example\r\ncontent-length: ${20 * piece.length}\r\n\r\n`,
  );
  const closed = once(client, 'close');
  for (let sent = 0; sent < 20; sent++) {
    await pause(5);
    await new Promise<void>((done, fail) => client.write(piece, (error) => (error ? fail(error) : done())));
  }
  await closed;
  assert.match(answer, /^HTTP\/1\.1 503 /);
  assert.ok(answer.includes(NO_DATABASE));
});

const { deps } = await sharedServer();
const { database } = deps;

/** Makes a build of the web app with these files below /static. */
function buildOf(t: TestContext, files: Record<string, string>): string {
  const folder = temporaryFolder(t);
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, 'static', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

const texts = async (...paths: string[]) =>
  Promise.all(paths.map(async (path) => (await otherPageFile(database, path))?.toString() ?? null));

test('while servers are replaced, each knows the files of the other’s page', async (t) => {
  const before = buildOf(t, {
    'js/index.1.js': 'before',
    'js/index.1.js.br': 'compressed',
    'js/same.5.js': 'same',
  });
  const now = buildOf(t, { 'js/index.2.js': 'now', 'countries/7/CA.json': '{}', 'js/same.5.js': 'same' });
  await Promise.all([keepPageFiles(database, before), keepPageFiles(database, now)]);
  assert.deepEqual(
    await texts(
      'js/index.1.js',
      'js/index.2.js',
      'js/same.5.js',
      'countries/7/CA.json',
      'js/index.1.js.br',
      'js/index.3.js',
    ),
    ['before', 'now', 'same', '{}', null, null],
  );
  rmSync(join(before, 'static/js/index.1.js'));
  await keepPageFiles(database, before);
  assert.deepEqual(await texts('js/index.1.js'), ['before'], 'a tab may still ask for it');
});

test('a file goes 30 days after the last start with its build', async (t) => {
  const builds = ['old', 'recent', 'again'].map((name) => buildOf(t, { [`js/${name}.js`]: name }));
  for (const each of builds) await keepPageFiles(database, each);
  const startedBefore = (name: string, time: string) =>
    sql`update page_file set started_at = now() - ${time}::interval where path = ${`js/${name}.js`}`.execute(
      database,
    );
  await startedBefore('old', '30 days 1 minute');
  await startedBefore('recent', '29 days 23 hours');
  await startedBefore('again', '40 days');
  await keepPageFiles(database, builds[2]!);
  assert.deepEqual(await texts('js/old.js', 'js/recent.js', 'js/again.js'), [null, 'recent', 'again']);
});
