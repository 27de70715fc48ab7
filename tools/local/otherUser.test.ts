import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { npmRun, npmStart } from '../../tests/harness/npmStart.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../tests/harness/testLength.ts';
import { until } from '../../tests/harness/until.ts';
import { imageOf, parseDockerfile } from '../../tests/ops/dockerfile.ts';
import { freePort } from './ports.ts';

const root = resolve(import.meta.dirname, '../..');
/** The account `nobody`, which owns no files. */
const nobody = { uid: 65534, gid: 65534 };
const skip =
  onlyLong ||
  (process.getuid?.() !== 0 && 'only root can start a program as another user') ||
  (spawnSync('npm', ['--version'], { ...nobody, cwd: '/' }).status !== 0 &&
    'another user cannot run the npm of this machine');

/**
 * Makes a folder with a copy of this Node, since the checkout may be where no other user may enter. Returns null if another
 * user cannot run programs there either.
 */
function reachable(t: TestContext): { folder: string; node: string } | null {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const node = join(folder, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  return spawnSync(node, ['--version'], { ...nobody, cwd: '/' }).status === 0 ? { folder, node } : null;
}

/**
 * Copies this checkout so that it is as `git clone` and `npm install` by root would leave it: everybody may read it, and only
 * root may write.
 */
function checkout(folder: string): string {
  const tree = join(folder, 'induct');
  cpSync(root, tree, {
    recursive: true,
    filter: (path) =>
      !/^(node_modules|data|out|test-results|\.git|(lab\/\w+|tools\/local\/headlessShell)\/node_modules|apps\/\w+\/dist[^/]*)$/.test(
        path.slice(root.length + 1),
      ),
  });
  const packages = [join(root, 'node_modules'), join(tree, 'node_modules')] as const;
  // Makes hard links instead of copies where that is possible, since that is much faster. A link has the mode of its file, so
  // packages that only root may read are copied.
  const secret = ['-name', '.cache', '-prune', '-o', '-type', 'f', '!', '-perm', '-4', '-print', '-quit'];
  const isSecret = spawnSync('find', [packages[0], ...secret]).stdout.length > 0;
  if (isSecret || spawnSync('cp', ['-al', ...packages]).status !== 0)
    assert.equal(spawnSync('cp', ['-a', ...packages]).status, 0);
  rmSync(join(tree, 'node_modules/.cache'), { recursive: true, force: true });
  assert.equal(spawnSync('chmod', ['-R', 'go+rX', tree]).status, 0);
  return tree;
}

test('what root has built runs as another user, who may write to DATA_DIR alone: by npm start, and as the image starts it', {
  skip,
}, async (t) => {
  const place = reachable(t);
  if (!place) return t.skip(`another user cannot run programs in ${tmpdir()}`);
  const tree = checkout(place.folder);
  const build = npmRun('build', {}, [], { cwd: tree });
  assert.equal(await build.ended, 0, build.output());
  const state = join(tree, '../state');
  mkdirSync(state);
  chownSync(state, nobody.uid, nobody.gid);

  const settings = { DATA_DIR: join(state, 'data'), PORT: String(await freePort()), HOME: '/nonexistent' };
  const induct = await npmStart(settings, { cwd: tree, ...nobody });
  t.after(async () => {
    induct.process.kill('SIGTERM');
    await induct.ended;
  });
  assert.equal((await fetch(induct.url)).status, 200);
  assert.doesNotMatch(induct.output(), /Building/);

  // Starts the server as the image does, but on a free port, with its own data folder, the stand-ins and their settings.
  const { local } = induct;
  const { cmd, env } = imageOf(parseDockerfile(readFileSync(join(tree, 'Dockerfile'), 'utf8')));
  const [program, ...args] = cmd as [string, ...string[]];
  const imageSettings = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace('/data', join(state, 'image'))]),
  );
  const port = String(await freePort());
  const server = spawn(program === 'node' ? place.node : program, args, {
    cwd: tree,
    ...nobody,
    env: {
      ...imageSettings,
      MODE: 'local',
      HOST: '127.0.0.1',
      PORT: port,
      DATABASE_URL: local.database.url,
      STRIPE_EMULATOR_URL: local.stripe!.url,
      HUBSPOT_EMULATOR_URL: local.hubspot!.url,
      MAIL_EMULATOR_URL: local.mail!.smtpUrl,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  server.stdout.on('data', (chunk) => (output += chunk));
  server.stderr.on('data', (chunk) => (output += chunk));
  const ended = once(server, 'exit');
  t.after(async () => {
    server.kill('SIGTERM');
    await ended;
  });
  await until(() => {
    assert.equal(server.exitCode, null, output);
    return fetch(`http://127.0.0.1:${port}/`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  assert.doesNotMatch(output, /EACCES|EROFS|EPERM/);
  assert.equal(existsSync(join(tree, 'data')), false);
});
