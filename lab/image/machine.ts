import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { until } from '../../tests/harness/until.ts';

const checkout = resolve(import.meta.dirname, '../..');

export interface Finished {
  /** Stdout and standard error. */
  output: string;
  code: number;
}

/** Runs shell commands as root in the machine, and stops at the first one that fails. */
export type Run = (lines: string) => Promise<Finished>;

/**
 * Boots a copy of this machine with systemd-nspawn (as root). The copy runs systemd as its first process, and shares this
 * machine's network. This checkout is in /opt/induct of the copy, and this Node is its /usr/bin/node. The copy's writes do not
 * reach this machine. The copy starts only systemd's basic services, and is removed after the test.
 */
export async function startMachine(t: TestContext): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-machine-'));
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  t.after(async () => {
    for (const step of undo.reverse()) await step();
  });
  const mount = (place: string, type: string, options: string) => {
    mkdirSync(place, { recursive: true });
    execFileSync('mount', ['-t', type, '-o', options, type, place]);
    undo.push(() => execFileSync('umount', [place]));
  };
  // Writes go to a tmpfs, since the upper layer of an overlay cannot be on another overlay.
  const written = join(folder, 'written');
  mount(written, 'tmpfs', 'mode=0700');
  const overlay = (place: string, lower: string, name: string) => {
    const [upper, work] = [join(written, name, 'upper'), join(written, name, 'work')] as const;
    for (const each of [upper, work]) mkdirSync(each, { recursive: true });
    mount(place, 'overlay', `lowerdir=${lower},upperdir=${upper},workdir=${work},redirect_dir=on`);
  };
  const root = join(folder, 'root');
  overlay(root, '/', 'system');
  overlay(join(root, 'opt/induct'), checkout, 'checkout');

  const nspawn = spawn(
    'systemd-nspawn',
    [
      ...['--quiet', `--directory=${root}`, '--register=no', '--keep-unit', '--link-journal=no'],
      ...[`--bind-ro=${process.execPath}:/usr/bin/node`, '--boot', '--', '--unit=sysinit.target'],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let told = '';
  for (const stream of [nspawn.stdout, nspawn.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
  const ended = once(nspawn, 'close');
  undo.push(async () => {
    // Shuts the machine down.
    nspawn.kill('SIGTERM');
    await ended;
  });

  const run: Run = (lines) =>
    new Promise((done) => {
      const [first] = readFileSync(`/proc/${nspawn.pid}/task/${nspawn.pid}/children`, 'utf8').split(' ') as [
        string,
      ];
      const environment = [
        '-i',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME=/root',
      ];
      execFile(
        'nsenter',
        ['--target', first, '--all', '--root', '--wd', 'env', ...environment, 'sh', '-ec', lines],
        (error, stdout, stderr) =>
          done({ output: stdout + stderr, code: error ? Number(error.code ?? 1) : 0 }),
      );
    });
  await until(async () => {
    if (nspawn.exitCode !== null) throw new Error(`systemd-nspawn ended: ${told}`);
    // D-Bus must run, since systemd-run needs it.
    return (await run('systemctl is-active sysinit.target && systemctl start dbus')).code === 0;
  });
  return run;
}
