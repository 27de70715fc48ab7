import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, compiledCode, startChild } from '../../tools/local/child.ts';
import { settingsFor } from './standIns.ts';
import type { TestServer } from './testServer.ts';

const app = join(import.meta.dirname, '../../apps/server');
const main = join(app, 'main.ts');
const operatorProgram = join(app, 'operator.ts');

export interface ServerProcess {
  url: string;
  pid: number;
  /** What it has logged so far, a JSON object each. */
  log(): Record<string, unknown>[];
  /** All that it has printed so far. */
  output(): string;
  /** Its exit code, or the signal that ended it; null while it runs. */
  ended(): number | string | null;
  /** Asks it to stop, as a deployment does, and gives its exit code, or the signal that ended it. */
  stop(): Promise<number | string>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  /** The most memory that it ever had, in bytes; null where the system does not say. */
  peakMemory(): number | null;
}

/** A test server whose processes have more settings, or other ones. */
export function withSettings(test: TestServer, settings: Record<string, string>): TestServer {
  return { ...test, env: { ...test.env, ...settings } };
}

/** The settings by which another process works on the database, the stand-ins and the documents of a test server. */
export function settingsOf(test: TestServer): NodeJS.ProcessEnv {
  const { databaseUrl, dataDir } = test.deps.config;
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    PORT: '0',
    ...settingsFor(test, databaseUrl, dataDir),
    LIMITS: 'off',
    LOG_LEVEL: 'fatal',
    ...test.env,
  };
}

/** The command line of staff as a process: all that it printed, what of it went to standard output, and its exit status. */
export function runOperator(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<{ output: string; stdout: string; code: number }> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', operatorProgram, ...args],
      { env: { ...compiledCode, ...env } },
      (error, stdout, stderr) =>
        done({ output: stdout + stderr, stdout, code: error ? Number(error.code ?? 1) : 0 }),
    );
  });
}

/** The server as a process of its own, on what a test server works on; `program` is another version's main.ts. */
export async function startServerProcess(test: TestServer, program = main): Promise<ServerProcess> {
  const { listening, ...server } = launchServerProcess(test, program);
  return { ...server, url: await listening };
}

/** The same, not waited for: `listening` gives its address, and rejects when it ends before. */
export function launchServerProcess(
  test: TestServer,
  program = main,
): Omit<ServerProcess, 'url'> & { listening: Promise<string> } {
  let child!: Child;
  const ready = startChild<{ listening: string }>(program, {
    // Another version's code would stay in the cache for good.
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
  // The last lines have arrived by then.
  const ended = once(server, 'close');
  const listening = ready.then(
    (started) => started.ready.listening,
    async (error: Error) => {
      await ended;
      throw new Error(`${error.message}\n${output}`);
    },
  );
  // It is thrown to whoever waits for it.
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
