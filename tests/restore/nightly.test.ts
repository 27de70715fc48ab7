import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { lacksPostgres, startInstalledPostgres } from '../harness/installedPostgres.ts';
import { settingsOf } from '../harness/serverProcess.ts';
import { paidJoin } from '../harness/steps.ts';
import { temporaryFolder } from '../harness/temporaryFolder.ts';
import { onlyLong } from '../harness/testLength.ts';
import { startTestServer } from '../harness/testServer.ts';

const root = resolve(import.meta.dirname, '../..');
const unit = readFileSync(join(root, 'ops/induct-backup.service'), 'utf8');
const DAY_MS = 86_400_000;

/** Returns a command of the systemd unit as a shell command, with another folder in place of `/backups`. */
function commandOf(name: string, backups: string): string {
  const [, command] = new RegExp(`^${name}=(.*)$`, 'm').exec(unit)!;
  // In a systemd unit, `%%` stands for one percent sign.
  return command!.replaceAll('%%', '%').replaceAll('/backups', backups);
}

test('the nightly backup is named by its minute, and its clean-up removes only such folders, and only old ones', {
  skip: onlyLong || lacksPostgres,
}, async (t) => {
  const postgres = await startInstalledPostgres();
  const server = await startTestServer({}, { postgresUrl: postgres.url });
  t.after(async () => {
    await server.close();
    await postgres.stop();
  });
  await paidJoin(server, server.client());
  const backups = temporaryFolder(t);
  const makeOld = (name: string, days: number) => {
    mkdirSync(join(backups, name, 'documents'), { recursive: true });
    const then = new Date(Date.now() - days * DAY_MS);
    utimesSync(join(backups, name), then, then);
  };
  makeOld('2026-01-01-0930', 16);
  makeOld('2026-01-05-0930', 13);
  makeOld('before the upgrade', 16);
  const node = dirname(process.execPath);
  const run = (name: string, settings: NodeJS.ProcessEnv = {}) =>
    spawnSync('/bin/sh', ['-c', commandOf(name, backups)], {
      cwd: root,
      encoding: 'utf8',
      env: { ...settingsOf(server), PATH: [node, postgres.path].join(delimiter), ...settings },
    });

  const failed = run('ExecStart', { DATABASE_URL: postgres.url.replace(/[^/]+$/, 'nowhere') });
  assert.notEqual(failed.status, 0, 'so that systemd calls the night a failure, and removes nothing');
  const saved = run('ExecStart');
  assert.equal(saved.status, 0, saved.stdout + saved.stderr);
  const removed = run('ExecStartPost');
  assert.equal(removed.status, 0, removed.stderr);
  const names = readdirSync(backups).sort();
  assert.ok(names.includes('before the upgrade'), 'it was not made by the timer');
  assert.ok(names.includes('2026-01-05-0930') && !names.includes('2026-01-01-0930'), names.join(' '));
  const made = names.filter((name) => existsSync(join(backups, name, 'manifest.json')));
  assert.equal(made.length, 1);
  assert.match(made[0]!, /^\d{4}-\d\d-\d\d-\d{4}$/);
  assert.ok(Math.abs(Date.parse(made[0]!.slice(0, 10)) - Date.now()) < 2 * DAY_MS);
});
