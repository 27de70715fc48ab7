import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import { type LocalFile, readLocalFile } from '../../tools/local/localFile.ts';
import { type Holder, readHolder } from '../../tools/local/lock.ts';
import { freePort } from '../../tools/local/ports.ts';
import { isRunning, isZombie } from '../../tools/local/processes.ts';
import { until } from './until.ts';

const root = resolve(import.meta.dirname, '../..');

/** A command of package.json, run as a person types it, with its output so far. */
export interface Command {
  process: ChildProcess;
  output(): string;
  /** The exit code, or 128 plus the number of the signal that ended the command. */
  ended: Promise<number>;
}

/**
 * The ids of all processes that this test file has started. They are killed when the file ends; otherwise a failed test could keep
 * the file running forever.
 */
const pidsSoFar: number[] = [];
after(() => {
  for (const pid of pidsSoFar.filter((each) => !hasEnded(each))) process.kill(pid, 'SIGKILL');
});

/**
 * The folder in which a command runs, and the account that runs it; by default the root of this checkout and the account of this
 * process.
 */
export interface Whereabouts {
  cwd?: string;
  uid?: number;
  gid?: number;
}

/** Runs `npm run --silent NAME -- ARGS`. Its environment variables are PATH, HOME and `settings` only. */
export function npmRun(
  name: string,
  settings: Record<string, string>,
  args: string[] = [],
  whereabouts: Whereabouts = {},
): Command {
  const { PATH, HOME } = process.env;
  const program = spawn('npm', ['run', '--silent', name, '--', ...args], {
    cwd: root,
    ...whereabouts,
    // A separate process group, so that a test can press Ctrl-C, which reaches the whole group.
    detached: true,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  pidsSoFar.push(program.pid!);
  let output = '';
  program.stdout?.on('data', (chunk) => (output += chunk));
  program.stderr?.on('data', (chunk) => (output += chunk));
  const ended = new Promise<number>((done) => {
    program.once('close', (code, signal) => done(signal ? 128 + constants.signals[signal] : code!));
  });
  return { process: program, output: () => output, ended };
}

export interface NpmStart extends Command {
  url: string;
  local: LocalFile;
  /** The process ids, by the role of each process. */
  pids: Record<'npm' | 'bootstrap' | 'start' | 'emulators' | 'server' | 'postgres', number>;
  /** Sends SIGINT to the whole group, as a terminal does. Resolves with the exit code. */
  pressCtrlC(): Promise<number>;
}

type Settings = { DATA_DIR: string; PORT: string } & Record<string, string>;

/** Runs `npm start` and resolves when it says that it is ready. Rejects with its output when it ends before that. */
export async function npmStart(settings: Settings, whereabouts: Whereabouts = {}): Promise<NpmStart> {
  const before = readLocalFile(settings.DATA_DIR)?.desk?.url;
  const DESK_PORT = before ? new URL(before).port : String(await freePort());
  const command = npmRun('start', { DESK_PORT, ...settings }, [], whereabouts);
  let code: number | undefined;
  void command.ended.then((value) => {
    code = value;
  });
  try {
    await until(() => {
      if (code !== undefined) throw new Error(`npm start ended with ${code}:\n${command.output()}`);
      return command.output().includes('Induct is ready');
    });
  } catch (error) {
    if (code === undefined) process.kill(-command.process.pid!, 'SIGINT');
    throw error;
  }
  const local = readLocalFile(settings.DATA_DIR)!;
  const { pid: start, children } = readHolder(settings.DATA_DIR) as Holder;
  const postgres = Number(
    readFileSync(join(settings.DATA_DIR, 'postgres/postmaster.pid'), 'utf8').split('\n')[0],
  );
  const pids = {
    npm: command.process.pid!,
    bootstrap: Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(start)], { encoding: 'utf8' })),
    start,
    emulators: children[0]!.pid,
    server: children[1]!.pid,
    postgres,
  };
  pidsSoFar.push(...Object.values(pids));
  return {
    ...command,
    url: local.server.url,
    local,
    pids,
    pressCtrlC() {
      process.kill(-pids.npm, 'SIGINT');
      return command.ended;
    },
  };
}

/** Runs `npm start` with its own data folder and without rate limits. `end` stops it and removes the folder. */
export async function npmStartApart(
  settings: Record<string, string> = {},
): Promise<NpmStart & { folder: string; settings: Settings; end(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-apart-'));
  const all = { DATA_DIR: join(folder, 'data'), PORT: String(await freePort()), LIMITS: 'off', ...settings };
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const induct = await npmStart(all);
    const end = () => induct.pressCtrlC().then(remove);
    return { ...induct, folder, settings: all, end };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Whether the process has ended, even if it is still a zombie. */
export function hasEnded(pid: number): boolean {
  return !isRunning(pid) || isZombie(pid);
}
