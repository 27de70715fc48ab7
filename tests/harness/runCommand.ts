import type { TestContext } from 'node:test';
import type { Command, StaffWired } from '../../apps/staff/command.ts';
import type { TestServer } from './testServer.ts';

/** Options with which a command does nothing that it would ask about. */
const TRIALS = ['--dry-run', '--yes', '--ask'];

/** Runs `work`, which returns an exit status. Returns what it printed, and that status. */
export async function printed(
  t: TestContext,
  work: () => Promise<number>,
): Promise<{ out: string; code: number }> {
  let out = '';
  const say = (text: string) => {
    out += `${text}\n`;
  };
  const mocks = [t.mock.method(console, 'log', say), t.mock.method(console, 'error', say)];
  try {
    const code = await work();
    return { out, code };
  } finally {
    for (const { mock } of mocks) mock.restore();
  }
}

/**
 * Runs a staff command on a test server, and agrees to what it asks: a test has no terminal. `person erase` is exempt, since its
 * tests agree by themselves. Returns its output and its exit status.
 */
export function runCommand(
  t: TestContext,
  server: TestServer,
  command: Command,
  args: string[],
): Promise<{ out: string; code: number }> {
  const isAsked =
    command.options?.yes !== undefined &&
    !command.usage.startsWith('person erase') &&
    !args.some((arg) => TRIALS.includes(arg));
  return printed(t, () => command.run(isAsked ? [...args, '--yes'] : args, wiredForStaff(server)));
}

/** Returns what a command of a test server works with, for the member of staff who is named in its settings. */
export function wiredForStaff({ deps, background, hubspot }: TestServer): StaffWired {
  const staff = { ...deps, database: background, actor: deps.config.operatorName };
  return { deps: staff, database: background, background, hubspot };
}

/** Runs a command as a member of staff with this name. */
export async function runAsStaff(
  t: TestContext,
  server: TestServer,
  operatorName: string,
  command: Command,
  ...args: string[]
): Promise<{ out: string; code: number }> {
  const config = { ...server.deps.config, operatorName };
  return runCommand(t, { ...server, deps: { ...server.deps, config } }, command, args);
}
