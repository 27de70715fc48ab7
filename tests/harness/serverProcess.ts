import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, compiledCode, startChild } from '../../tools/local/child.ts';
import { settingsFor } from './standIns.ts';
import type { TestServer } from './testServer.ts';

const app = join(import.meta.dirname, '../../apps/server');
/** The server's program: the built server if `npm test` has built it, since that starts in half the time. */
const main = process.env.TEST_SERVER ?? join(app, 'main.ts');
const operatorProgram = join(app, '../staff/operator.ts');

export interface ServerProcess {
  url: string;
  pid: number;
  /** Returns the server's log lines so far, each a JSON object. */
  log(): Record<string, unknown>[];
  /** Returns all output of the server so far. */
  output(): string;
  /** Returns the server's exit code, or the signal that ended it; null while it runs. */
  ended(): number | string | null;
  /** Asks the server to stop, as a deployment does. Resolves with its exit code, or the signal that ended it. */
  stop(): Promise<number | string>;
  /** Kills the server, as a power cut would. */
  kill(): Promise<void>;
  /** Returns the server's peak memory in bytes; null if the operating system does not report it. */
  peakMemory(): number | null;
}

/** Returns a test server whose processes get additional or different settings. */
export function withSettings(test: TestServer, settings: Record<string, string>): TestServer {
  return { ...test, env: { ...test.env, ...settings } };
}

/** Returns the settings with which another process uses the database, the stand-ins and the documents of a test server. */
export function settingsOf(test: TestServer): NodeJS.ProcessEnv {
  const { databaseUrl, dataDir } = test.deps.config;
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    PORT: '0',
    ...settingsFor(test, databaseUrl, dataDir),
    LIMITS: 'off',
    SHED_EVENT_LOOP_DELAY_MS: '0',
    LOG_LEVEL: 'fatal',
    ...test.env,
  };
}

/**
 * Runs the staff command line as a process. Returns all its output, its standard output alone, and its exit status. With `into`,
 * standard output goes to that file, or to a pipe whose reader has closed it.
 */
export function runOperator(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  into?: '/dev/full' | 'a closed pipe',
): Promise<{ output: string; stdout: string; code: number }> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', operatorProgram, ...args];
  const [program, ...rest] =
    into === '/dev/full' ? ['/bin/sh', '-c', `exec "$0" "$@" > ${into}`, ...command] : command;
  return new Promise((done) => {
    const child = execFile(program!, rest, { env: { ...compiledCode, ...env } }, (error, stdout, stderr) =>
      done({ output: stdout + stderr, stdout, code: error ? Number(error.code ?? 1) : 0 }),
    );
    if (into === 'a closed pipe') child.stdout!.destroy();
  });
}

/**
 * Starts the server in its own process, with the database and stand-ins of a test server. `program` may be another version's
 * main.ts.
 */
export async function startServerProcess(test: TestServer, program = main): Promise<ServerProcess> {
  const { listening, ...server } = launchServerProcess(test, program);
  return { ...server, url: await listening };
}

/**
 * Starts the server like {@link startServerProcess} without waiting. `listening` resolves with its URL, and rejects when the server
 * ends before it listens.
 */
export function launchServerProcess(
  test: TestServer,
  program = main,
): Omit<ServerProcess, 'url'> & { listening: Promise<string> } {
  let child!: Child;
  const ready = startChild<{ listening: string }>(program, {
    // A server of another version runs without the compile cache, since nothing would ever remove its compiled code from that
    // cache.
    env: { ...(program !== main && { NODE_COMPILE_CACHE: undefined }), ...settingsOf(test) },
    output: 'pipe',
    started: (started) => {
      child = started;
    },
  });
  const server = child.process;
  let output = '';
  for (const stream of [server.stdout!, server.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  // Waits for `close`, because only then have the last lines of output arrived.
  const ended = once(server, 'close');
  const listening = ready.then(
    (started) => started.ready.listening,
    async (error: Error) => {
      await ended;
      throw new Error(`${error.message}\n${output}`);
    },
  );
  // Prevents an unhandled rejection until the caller awaits `listening`.
  listening.catch(() => {});
  ended.catch(() => {});
  return {
    listening,
    output: () => output,
    pid: server.pid!,
    log: () =>
      output
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    ended: () => server.exitCode ?? server.signalCode,
    async stop() {
      server.kill('SIGTERM');
      const [code, signal] = (await ended) as [number | null, string | null];
      return code ?? signal!;
    },
    async kill() {
      server.kill('SIGKILL');
      await ended;
    },
    peakMemory() {
      if (process.platform !== 'linux') return null;
      const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
    },
  };
}
