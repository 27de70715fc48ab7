import type { TestContext } from 'node:test';
import type { Config } from '../../apps/server/platform/config/config.ts';
import { commandNamed, execute, type StaffDeps } from '../../apps/staff/command.ts';
import { commands } from '../../apps/staff/commands.ts';
import type { TestServer } from './testServer.ts';

/** With one of these options, {@link runCommand} does not add `--yes`: the command only tries, or is confirmed already. */
const TRIALS = ['--dry-run', '--yes'];

/** Runs `work`, which returns an exit status. Returns what it printed, and that status. */
async function printed(t: TestContext, work: () => Promise<number>): Promise<{ out: string; code: number }> {
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
 * Runs the staff command with this name on a test server. Confirms what the command asks, because a test has no terminal. `person
 * erase` is exempt, since its tests confirm explicitly. Returns its output and its exit status.
 */
export function runCommand(
  t: TestContext,
  server: TestServer,
  name: string,
  args: readonly string[],
): Promise<{ out: string; code: number }> {
  const typed = [...name.split(' '), ...args];
  const { command } = commandNamed(commands, typed)!;
  const isAsked =
    command.flags?.includes('yes') &&
    !command.usage.startsWith('person erase') &&
    !typed.some((arg) => TRIALS.includes(arg));
  return runTyped(t, server, name, isAsked ? [...args, '--yes'] : args);
}

/** Like {@link runCommand}, but with exactly these arguments. */
export function runTyped(
  t: TestContext,
  { deps, background }: Pick<TestServer, 'deps' | 'background'>,
  name: string,
  args: readonly string[],
): Promise<{ out: string; code: number }> {
  const named = commandNamed(commands, [...name.split(' '), ...args])!;
  const staff: StaffDeps = { ...deps, database: background, actor: deps.config.operatorName };
  return printed(t, () => execute(named.command, named.rest, staff));
}

/** Runs a command that needs only the settings. */
export function runLone(
  t: TestContext,
  config: Config,
  name: string,
  args: readonly string[],
): Promise<{ out: string; code: number }> {
  const { command, rest } = commandNamed(commands, [...name.split(' '), ...args])!;
  return printed(t, () => execute(command, rest, { config }));
}

/** Runs a command as a member of staff with this name. */
export async function runAsStaff(
  t: TestContext,
  server: TestServer,
  operatorName: string,
  name: string,
  ...args: string[]
): Promise<{ out: string; code: number }> {
  const config = { ...server.deps.config, operatorName };
  return runCommand(t, { ...server, deps: { ...server.deps, config } }, name, args);
}
