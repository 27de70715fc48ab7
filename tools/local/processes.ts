import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether a process has this number. A zombie counts: it has ended, but its parent has not taken note. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Ended, but still in the table of processes. */
export function isZombie(pid: number): boolean {
  return /^[ZX]/.test(stateOf(pid) ?? '');
}

/** What the process was started as; undefined when the system does not tell. */
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

/** The parent's number; 0 when there is no such process. */
export function parentOf(pid: number): number {
  return process.platform === 'linux' ? Number(stat(pid)?.[1] ?? 0) : Number(ps(pid, 'ppid=') ?? 0);
}

function stateOf(pid: number): string | undefined {
  return process.platform === 'linux' ? stat(pid)?.[0] : ps(pid, 'stat=');
}

/** The fields after the name, which is in parentheses and may itself contain anything. */
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

/** A process beyond doubt: numbers are used again, but not together with the time of birth. */
export interface ProcessIdentity {
  pid: number;
  born: string;
}

/** Undefined when there is no such process, or only its zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!isRunning(pid) || isZombie(pid)) return undefined;
  const born = process.platform === 'linux' ? stat(pid)?.[19] : ps(pid, 'lstart=');
  return born ? { pid, born } : undefined;
}

/** Whether that very process still runs. */
export function lives({ pid, born }: ProcessIdentity): boolean {
  return identify(pid)?.born === born;
}
