import { readdirSync, readFileSync } from 'node:fs';

/** What a process and everything below it have used. Linux only: it comes from /proc. */
export interface Usage {
  /** Processor time so far, of children that have ended too (s). */
  cpuSeconds: number;
  /** Resident memory (bytes). What processes share is counted for each of them. */
  rssBytes: number;
}

/** Of a second, in /proc's times. The same on every Linux that Node runs on. */
const TICKS = 100;
const PAGE_BYTES = 4096;

/** The fields of /proc/PID/stat after the name, which is in parentheses and may itself contain anything. */
const at = { parent: 1, user: 11, system: 12, childrenUser: 13, childrenSystem: 14, rssPages: 21 } as const;

export function usageOf(root: number): Usage {
  const usage: Usage = { cpuSeconds: 0, rssBytes: 0 };
  for (const fields of treeOf(root).values()) {
    const { user, system, childrenUser, childrenSystem, rssPages } = at;
    for (const field of [user, system, childrenUser, childrenSystem])
      usage.cpuSeconds += Number(fields[field]) / TICKS;
    usage.rssBytes += Number(fields[rssPages]) * PAGE_BYTES;
  }
  return usage;
}

/** Proportional memory (bytes): what processes share is divided among them. Slow to read, so not during a measurement. */
export function proportionalBytes(root: number): number {
  let bytes = 0;
  for (const pid of treeOf(root).keys()) {
    const rollup = read(`/proc/${pid}/smaps_rollup`);
    bytes += Number(/^Pss:\s+(\d+) kB$/m.exec(rollup ?? '')?.[1] ?? 0) * 1024;
  }
  return bytes;
}

/** The most resident memory that one process ever had (bytes). */
export function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0) * 1024;
}

/** Processor time that the whole machine has used since it started, also what a host took from it (s). */
export function machineBusySeconds(): number {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq! + (steal ?? 0)) / TICKS;
}

/** The process and all its descendants, with their fields. Empty when it is gone. */
function treeOf(root: number): Map<number, string[]> {
  const all = new Map<number, string[]>();
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = read(`/proc/${name}/stat`);
    if (text === undefined) continue;
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const parent = Number(fields[at.parent]);
    all.set(Number(name), fields);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = new Map<number, string[]>();
  const walk = (pid: number) => {
    const fields = all.get(pid);
    if (fields) tree.set(pid, fields);
    for (const child of children.get(pid) ?? []) walk(child);
  };
  walk(root);
  return tree;
}

/** Undefined when the process has ended meanwhile. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
