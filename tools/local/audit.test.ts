import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { type AuditDecisions, findingFaults, type Lockfile, licenceFaults } from './judgeAudit.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const decisions: AuditDecisions = read('tools/local/audit.json');
const lockfile: Lockfile = read('package-lock.json');

/** Runs `npm run audit` as a process, with the given registry. */
async function audit(t: TestContext, registry: string, args: string[] = []) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'audit.ts'), ...args], {
    env: { ...process.env, npm_config_registry: registry, npm_config_cache: temporaryFolder(t) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr, code: await ended };
}

/** Starts a registry that answers with an advisory (an object), or only with a status (a number). */
async function registry(t: TestContext, answer: object | number): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isBulk = request.url === '/-/npm/v1/security/advisories/bulk' && request.method === 'POST';
      response.statusCode = typeof answer === 'number' ? answer : isBulk ? 200 : 404;
      response.setHeader('content-type', 'application/json');
      response.end(typeof answer === 'object' && isBulk ? JSON.stringify(answer) : '{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const ID = 'GHSA-aaaa-bbbb-cccc';
const advisory = (severity: string) => ({
  pg: [
    {
      ...{ id: 1, url: `https://github.com/advisories/${ID}`, title: 'Planted', severity },
      ...{ vulnerable_versions: '*', cwe: [], cvss: { score: 0, vectorString: null } },
    },
  ],
});

test('every package has a licence that is allowed, and none is accepted in vain', () => {
  assert.deepEqual(licenceFaults(lockfile, decisions.licences), []);
});

test('the licence of every package is listed, by the command of .ci/run', async (t) => {
  const [, args] = /^npm run audit -- (.+)$/m.exec(readFileSync(join(root, '.ci/run'), 'utf8')) ?? [];
  const { stdout, code } = await audit(t, await registry(t, 404), (args ?? '').split(' '));
  assert.equal(code, 0);
  const listed = new Set(
    [...stdout.matchAll(/^ {2}(.+): (.+)$/gm)].flatMap(([, licence, packages]) =>
      packages!.split(', ').map((each) => `${each} ${licence}`),
    ),
  );
  for (const [path, { version, license = 'no licence named' }] of Object.entries(lockfile.packages)) {
    const name = path.split('node_modules/').at(-1)!;
    if (path !== '' && !lockfile.packages[path]!.name)
      assert.ok(listed.has(`${name} ${version} ${license}`), `${name} ${version} ${license}`);
  }
  assert.ok(listed.size > 300);
});

test('a licence that is unknown or missing is told with its package; of a choice one suffices', () => {
  const of = (license?: string) =>
    licenceFaults(
      {
        packages: {
          '': {},
          'node_modules/a/node_modules/@x/b': { version: '1.0.0', ...(license && { license }) },
        },
      },
      { allowed: ['MIT', 'ISC'], accepted: [] },
    );
  for (const fine of [
    'MIT',
    '(MIT OR GPL-3.0-only)',
    'GPL-3.0-only OR ISC',
    'MIT AND ISC',
    '(MIT AND (ISC OR X))',
  ])
    assert.deepEqual(of(fine), [], fine);
  for (const wrong of [
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    'GPL-3.0-only AND MIT OR X',
    '(MIT',
    'SEE LICENSE IN x',
    'MIT X',
  ])
    assert.deepEqual(of(wrong), [
      `@x/b 1.0.0: the licence ${wrong} is not among those allowed (tools/local/audit.json).`,
    ]);
  assert.deepEqual(of(), ['@x/b 1.0.0: names no licence (tools/local/audit.json).']);
  const accepted = [{ package: 'gone', licence: 'MPL-2.0', why: 'Once.' }];
  assert.match(
    licenceFaults({ packages: {} }, { allowed: [], accepted })[0]!,
    /gone, which no package needs/,
  );
});

test('a finding is accepted by its id until a day, and no longer', () => {
  const via = { url: `https://github.com/advisories/${ID}`, title: 'Planted', severity: 'high', name: 'pg' };
  const report = JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: { pg: { via: [via] }, x: { via: ['pg'] } },
  });
  const accepted = [{ id: ID, why: 'Not reached.', until: '2026-12-01' }];
  const on = (day: string) => findingFaults(report, accepted, new Date(`${day}T12:00:00Z`));
  assert.deepEqual(on('2026-12-01'), []);
  assert.match(on('2026-12-02')![0]!, /^pg: high: Planted \(.*\)\. It was accepted until 2026-12-01\.$/);
  assert.equal(findingFaults('{"message":"405"}', [], new Date()), null);
  assert.equal(findingFaults('', [], new Date()), null);
});

test('what is accepted has a reason, and a finding a day', () => {
  for (const { why } of [...decisions.licences.accepted, ...decisions.findings]) assert.ok(why.length > 10);
  for (const { id, until } of decisions.findings)
    assert.match(`${id} ${until}`, /^GHSA-\S+ \d{4}-\d\d-\d\d$/);
});

test('without a registry the audit says so in one line and passes, and also where one does not audit', async (t) => {
  for (const address of ['http://127.0.0.1:9/', await registry(t, 405)]) {
    const { stdout, stderr, code } = await audit(t, address);
    assert.match(stdout, /^The licences of \d+ packages are allowed\.\nNot looked up: .*\n$/);
    assert.deepEqual([stderr, code], ['', 0]);
  }
});

test('a severe finding fails the audit with the package and the advisory, a moderate one does not', async (t) => {
  const severe = await audit(t, await registry(t, advisory('high')));
  assert.equal(severe.code, 1);
  assert.match(
    severe.stderr,
    new RegExp(`^pg: high: Planted \\(https://github.com/advisories/${ID}\\)\\.$`, 'm'),
  );
  const moderate = await audit(t, await registry(t, advisory('moderate')));
  assert.deepEqual([moderate.code, moderate.stderr], [0, '']);
  assert.match(moderate.stdout, /Nothing severe is known/);
});

test('a planted licence fails the audit', async (t) => {
  const planted = join(temporaryFolder(t), 'package-lock.json');
  const packages = {
    ...lockfile.packages,
    'node_modules/planted': { version: '1.0.0', license: 'AGPL-3.0-only' },
  };
  writeFileSync(planted, JSON.stringify({ packages }));
  const { stderr, code } = await audit(t, 'http://127.0.0.1:9/', ['--lockfile', planted]);
  assert.equal(code, 1);
  assert.match(stderr, /^planted 1\.0\.0: the licence AGPL-3\.0-only is not among those allowed/);
});
