import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { buildDesk } from './app.ts';

const server = await sharedServer();
const deps = { ...server.deps, deskUrl: 'http://localhost:3100' };

test('the desk has one page at every path, its files for ever, and no page for calls', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'static/js'), { recursive: true });
  writeFileSync(
    join(folder, 'index.html'),
    '<html data-mode="%mode%"><head><title>%society%</title></head></html>',
  );
  writeFileSync(join(folder, 'viewer.html'), '<html><title>Document</title></html>');
  writeFileSync(join(folder, 'static/js/index.1a2b.js'), 'run()');
  const app = buildDesk(deps, folder);
  t.after(() => app.close());
  const get = (url: string) => app.inject({ url });

  for (const path of ['/', '/enter', '/people/12/story', '/nowhere', '/apian']) {
    const { statusCode, headers, body } = await get(path);
    assert.deepEqual([statusCode, headers['cache-control']], [200, 'no-store'], path);
    const { name, colours } = deps.society.society;
    assert.match(body, new RegExp(`data-mode="local".*<title>${name}</title>.*--red:${colours.red}`));
    const policy = String(headers['content-security-policy']).split(';');
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ])
      assert.ok(policy.includes(directive), directive);
    assert.doesNotMatch(policy.join(), /unsafe/);
  }
  const preloadsOf = async (url: string, cookie?: string) =>
    [
      ...(await app.inject({ url, headers: cookie ? { cookie } : {} })).body.matchAll(/href="(\/api[^"]+)"/g),
    ].map(([, path]) => path);
  assert.deepEqual(await preloadsOf('/', 'desk=token'), ['/api/desk/me', '/api/desk/today']);
  assert.deepEqual([await preloadsOf('/'), await preloadsOf('/people', 'desk=token')], [[], []]);
  const viewer = await get('/viewer');
  assert.match(viewer.body, /<title>Document/);
  assert.equal(
    viewer.headers['content-security-policy'],
    "default-src 'none';script-src http://localhost:3100/static/ 'wasm-unsafe-eval';style-src http://localhost:3100/static/;img-src blob: data:;connect-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'self';sandbox allow-scripts",
  );
  const file = await get('/static/js/index.1a2b.js');
  assert.deepEqual([file.statusCode, file.body], [200, 'run()']);
  assert.equal(file.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal((await get('/favicon.ico')).headers['content-type'], 'image/png');
  for (const path of ['/api', '/api/desk/nothing', '/static/js/index.gone.js']) {
    const { statusCode, headers } = await get(path);
    assert.deepEqual([statusCode, headers['cache-control']], [404, 'no-store'], path);
  }
});

test('without built pages the calls are served, and a folder without them is refused in a sentence', async (t) => {
  const app = buildDesk(deps);
  t.after(() => app.close());
  assert.equal((await app.inject({ url: '/' })).statusCode, 404);
  assert.equal((await app.inject({ url: '/api/desk/me' })).statusCode, 401);
  assert.throws(() => buildDesk(deps, '/nowhere'), /The desk is not built.*npm start/s);
});
