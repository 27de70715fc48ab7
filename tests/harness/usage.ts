import { readdirSync, readFileSync } from 'node:fs';

/** The unit of /proc's times, in parts of a second: the same on every Linux that Node runs on. */
const TICKS = 100;

/** The fields of /proc/PID/stat after the name, which stands in parentheses and may contain anything. */
const at = { parent: 1, user: 11, system: 12, childrenUser: 13, childrenSystem: 14 } as const;

/** CPU time so far of a process and its descendants, those that have ended included (s). Linux only, as all of this. */
export function cpuSecondsOf(root: number): number {
  const { user, system, childrenUser, childrenSystem } = at;
  return treeOf(root)
    .flatMap((fields) => [user, system, childrenUser, childrenSystem].map((field) => Number(fields[field])))
    .reduce((sum, ticks) => sum + ticks / TICKS, 0);
}

/** Resident memory of one process (bytes): now, or the most it ever had. */
export function memoryOf(pid: number, what: 'now' | 'peak'): number {
  const field = what === 'now' ? 'VmRSS' : 'VmHWM';
  const status = read(`/proc/${pid}/status`) ?? '';
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

/** Begins to watch what programs beside this process and its descendants use; the result says it in cores, so far. */
export function watchOthers(): () => number {
  const used = () => machineBusySeconds() - cpuSecondsOf(process.pid);
  const [before, began] = [used(), performance.now()];
  return () => Math.max(0, (used() - before) / ((performance.now() - began) / 1000));
}

/** CPU time of the whole machine since it was started, with what a hypervisor took from it (s). */
function machineBusySeconds(): number {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq! + (steal ?? 0)) / TICKS;
}

/** The fields of a process and of all its descendants. Empty when it is gone. */
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

/** Undefined when the process has ended meanwhile. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
