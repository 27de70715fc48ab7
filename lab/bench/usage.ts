import { readdirSync, readFileSync } from 'node:fs';

/** How many clock ticks a second has, on every Linux that Node runs on. The times in /proc are in clock ticks. */
const TICKS = 100;

/**
 * Indexes into the fields of /proc/PID/stat that follow the name of the process. The name is in parentheses and may contain any
 * character, so the fields are counted from the closing parenthesis.
 */
const at = { parent: 1, user: 11, system: 12, childrenUser: 13, childrenSystem: 14 } as const;

/**
 * Returns the CPU time (s) that a process and its descendants have used so far, including descendants that have ended. All
 * functions of this file need Linux.
 */
export function cpuSecondsOf(root: number): number {
  const { user, system, childrenUser, childrenSystem } = at;
  return treeOf(root)
    .flatMap((fields) => [user, system, childrenUser, childrenSystem].map((field) => Number(fields[field])))
    .reduce((sum, ticks) => sum + ticks / TICKS, 0);
}

/** Returns the resident memory of one process (bytes), now or at its peak; 0 when the process has ended. */
export function memoryOf(pid: number, what: 'now' | 'peak'): number {
  const field = what === 'now' ? 'VmRSS' : 'VmHWM';
  const status = read(`/proc/${pid}/status`) ?? '';
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

/**
 * Starts to measure how much CPU time other programs use: all but this process and its descendants. The returned function returns
 * their average use so far, in cores.
 */
export function watchOthers(): () => number {
  const used = () => machineBusySeconds() - cpuSecondsOf(process.pid);
  const [before, began] = [used(), performance.now()];
  return () => Math.max(0, (used() - before) / ((performance.now() - began) / 1000));
}

/** Returns the CPU time that the whole machine has used since its start, including what a hypervisor took from it (s). */
function machineBusySeconds(): number {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq! + (steal ?? 0)) / TICKS;
}

/**
 * Returns the fields of /proc/PID/stat after the process's name, for a process and each of its descendants. Returns an empty
 * list when the process has ended.
 */
function treeOf(root: number): string[][] {
  const processes = new Map<number, string[]>();
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const text = /^\d+$/.test(name) ? read(`/proc/${name}/stat`) : undefined;
    if (text === undefined) continue;
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const parent = Number(fields[at.parent]);
    processes.set(Number(name), fields);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const walk = (pid: number): string[][] => [
    ...(processes.has(pid) ? [processes.get(pid)!] : []),
    ...(children.get(pid) ?? []).flatMap(walk),
  ];
  return walk(root);
}

/** Returns the text of a file under /proc/PID; undefined when that process has ended. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
