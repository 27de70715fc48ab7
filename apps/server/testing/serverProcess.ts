import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFlags, nodeSettings } from '../../../local/child.ts';
import type { TestServer } from './testServer.ts';

const main = join(import.meta.dirname, '../main.ts');

export interface ServerProcess {
  url: string;
  pid: number;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  /** The most memory that it ever had, in bytes; null where the system does not say. */
  peakMemory(): number | null;
}

/** The settings by which another process works on the database, the stand-ins and the documents of a test server. */
export function settingsOf({ deps, env, stripeUrl, hubspotUrl }: TestServer): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    PORT: '0',
    DATABASE_URL: deps.config.databaseUrl,
    DATA_DIR: deps.config.dataDir,
    SOCIETY_FILE: deps.config.societyFile,
    STRIPE_EMULATOR_URL: stripeUrl,
    HUBSPOT_EMULATOR_URL: hubspotUrl,
    LIMITS: 'off',
    LOG_LEVEL: 'fatal',
    ...nodeSettings,
    ...env,
  };
}

/** The server as a process of its own, on what a test server works on; `program` is another version's main.ts. */
export async function startServerProcess(test: TestServer, program = main): Promise<ServerProcess> {
  const server = fork(program, {
    env: settingsOf(test),
    // As local/child.ts and the Dockerfile start it.
    execArgv: [...nodeFlags],
  });
  const ended = once(server, 'exit');
  const [{ listening }] = (await Promise.race([
    once(server, 'message'),
    ended.then(([code]) => {
      throw new Error(`The server ended with ${code} before it listened.`);
    }),
  ])) as [{ listening: string }];
  return {
    url: listening,
    pid: server.pid!,
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
