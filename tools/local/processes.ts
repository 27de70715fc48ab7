import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether a process has this id. A zombie counts: it has ended, but its parent has not yet collected it. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a process has ended but is still in the process table. */
export function isZombie(pid: number): boolean {
  return /^[ZX]/.test(stateOf(pid) ?? '');
}

/** Returns the command line of a process; undefined when it cannot be read. */
export function commandLine(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return undefined;
    }
  }
  return ps(pid, 'command=');
}

/** Calls `gone` once when the process that started this one has ended, which gives this process another parent. */
export function whenOrphaned(gone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, 250);
  timer.unref();
}

function stateOf(pid: number): string | undefined {
  return process.platform === 'linux' ? stat(pid)?.[0] : ps(pid, 'stat=');
}

/** Returns the fields of /proc/PID/stat after the name, which is in parentheses and may contain any character. */
function stat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function ps(pid: number, field: string): string | undefined {
  return spawnSync('ps', ['-o', field, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined;
}

/** Identifies a process with certainty: ids are reused, but not with the same start time. */
export interface ProcessIdentity {
  pid: number;
  born: string;
}

/** Returns the identity of a process; undefined when it does not exist or is a zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!isRunning(pid) || isZombie(pid)) return undefined;
  const born = process.platform === 'linux' ? stat(pid)?.[19] : ps(pid, 'lstart=');
  return born ? { pid, born } : undefined;
}

/** Whether exactly this process still runs. */
export function lives({ pid, born }: ProcessIdentity): boolean {
  return identify(pid)?.born === born;
}
