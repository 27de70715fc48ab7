import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  lacksPostgres,
  postgresPrograms,
  startInstalledPostgres,
} from '../../tests/harness/installedPostgres.ts';
import { startJoin } from '../../tests/harness/steps.ts';
import { browser } from '../../tests/harness/testServer.ts';
import { until } from '../../tests/harness/until.ts';
import { exampleEnv } from '../../tests/ops/compose.ts';
import { findProgram } from '../../tools/local/findProgram.ts';
import { tryPort } from '../../tools/local/ports.ts';
import { type Run, startMachine } from './machine.ts';

/**
 * The reason why the test is skipped; false if it runs. The test uses the ports that docs/deploy.md names, so they must be free.
 */
const skip =
  (process.getuid?.() !== 0 && 'only root can start a machine') ||
  (!findProgram('systemd-nspawn') && 'systemd-nspawn is not installed (apt-get install systemd-container)') ||
  (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0 &&
    'this system gives no namespaces (unshare, Linux)') ||
  lacksPostgres;

const documents = ['deploy.md', 'run.md']
  .map((name) => readFileSync(resolve(import.meta.dirname, '../../docs', name), 'utf8'))
  .join('\n');

/** Finds the only code block of docs/deploy.md and docs/run.md that contains `text`. Returns its lines, each of which is a command. */
function documented(text: string): string[] {
  const blocks = [...documents.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, block]) => block!);
  const found = blocks.filter((block) => block.includes(text));
  assert.equal(found.length, 1, `one block of the documents has "${text}"`);
  return found[0]!.replaceAll('\\\n', '').trim().split('\n');
}

/** Runs commands. Fails when one of them fails; otherwise returns their output. */
async function does(run: Run, commands: readonly string[]): Promise<string> {
  const { output, code } = await run(commands.join('\n'));
  assert.equal(code, 0, output);
  return output;
}

/** The variables for /etc/induct.env, filled in with invented keys. */
const filledIn = (databaseUrl: string): Record<string, string> => ({
  ...exampleEnv,
  DOCUMENT_KEY: 'c'.repeat(64),
  PUBLIC_URL: 'https://join.society.example',
  TRUST_PROXY: '127.0.0.1',
  DATABASE_URL: databaseUrl,
});

async function whenReady(port: number): Promise<void> {
  await until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    return response?.ok === true;
  });
}

test('the commands under "Without containers: systemd" start two servers that take a join, come back when they die, and save a night', {
  skip,
}, async (t: TestContext) => {
  for (const port of [3000, 3001, 9464, 9465])
    assert.equal(await tryPort(port, '127.0.0.1'), port, `port ${port} of the documents is in use`);
  const postgres = await startInstalledPostgres();
  t.after(() => postgres.stop());
  const databaseUrl = await postgres.emptyDatabase();
  const run = await startMachine(t);

  const commands = documented('useradd --system');
  await does(run, commands.slice(0, -1));
  const settings = Object.entries(filledIn(databaseUrl)).map(([name, value]) => `${name}=${value}`);
  await does(run, [`cat > /etc/induct.env <<'END'\n${settings.join('\n')}\nEND`]);
  assert.equal(await does(run, ['stat --format="%U %a" /etc/induct.env']), 'root 600\n');
  await does(run, commands.slice(-1));
  await Promise.all([whenReady(3000), whenReady(3001)]);
  for (const port of [9464, 9465]) {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    assert.match(metrics, /^induct_database_up 1$/m);
  }

  // The form of a staff command in docs/deploy.md.
  const staff = (words: string) => `${documented('systemd-run')[0]!.replace(/ doctor$/, '')} ${words}`;
  // The doctor reports that the providers do not accept invented keys. Everything else is in order.
  const doctor = await run(staff('doctor'));
  assert.equal(doctor.code, 1, doctor.output);
  assert.doesNotMatch(doctor.output, /missing +(Database|Storage|Documents)/i);
  const minted = await does(run, [
    `${staff('invitations mint --school "Lincoln High School"')} > /tmp/school.csv`,
    'install -o induct -m 600 /tmp/school.csv /var/lib/induct/school.csv',
    staff('invitations import /var/lib/induct/school.csv'),
    'cat /tmp/school.csv',
  ]);
  const code = /^([\dA-Z]+),,/m.exec(minted)?.[1];
  assert.ok(code, minted);
  assert.match(await startJoin(browser('http://127.0.0.1:3001'), code), /^[\da-f-]{36}$/);

  const owners = await does(run, ['stat --format="%U %a" /var/lib/induct/3000 /var/lib/induct/documents']);
  assert.equal(owners, 'induct 700\ninduct 700\n');
  const user = await does(run, ['ps -o user= -p $(systemctl show -P MainPID induct@3000)']);
  assert.equal(user.trim(), 'induct');

  // systemd restarts a server whose main process was killed. A server that receives the signal to stop exits, and systemd counts
  // that as a success.
  await does(run, ['systemctl kill --kill-whom=main --signal=KILL induct@3000']);
  await until(async () => (await run('test $(systemctl show -P NRestarts induct@3000) = 1')).code === 0);
  await whenReady(3000);
  await does(run, ['systemctl restart induct@3000']);
  await whenReady(3000);
  await does(run, ['systemctl stop induct@3001']);
  assert.equal(await does(run, ['systemctl show -P Result induct@3001']), 'success\n');
  assert.equal(await tryPort(3001, '127.0.0.1'), 3001);

  const nightly = documented('systemctl enable --now induct-backup.timer');
  await does(run, [
    'install -d -o induct -m 700 /backups',
    ...nightly.slice(0, -2),
    // The unit's PATH names the tools of one PostgreSQL version. docs/run.md asks staff to change it to the installed version, as
    // this line does.
    `sed -i s:/usr/lib/postgresql/18/bin:${postgresPrograms}: /etc/systemd/system/induct-backup.service`,
    ...nightly.slice(-2),
  ]);
  const saved = await does(run, ['ls /backups/*/manifest.json']);
  assert.match(saved, /^\/backups\/\d{4}-\d\d-\d\d-\d{4}\/manifest\.json\n$/);
  const timers = await does(run, ['systemctl list-timers induct-backup.timer --no-pager']);
  assert.match(timers, /1 timers listed/);
});
