import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, lives, type ProcessIdentity } from './processes.ts';

/** Who uses a data folder, in `running.json` inside it. */
export interface Holder extends ProcessIdentity {
  /** What was typed, for the sentence. */
  command: string;
  /** Where it serves, or will. */
  url?: string;
  stopping?: boolean;
  children: ProcessIdentity[];
}

export interface Lock {
  /** Notes children, so that whoever comes after a killed process can see them out. */
  addChild(pid: number): void;
  /** Says that it is about to let go, so that others wait instead of complaining. */
  stopping(): void;
  release(): void;
  /** True when the one before was killed. */
  afterCrash: boolean;
}

/** Makes a folder and its parents. One by one: Node's own way never ends where a parent cannot be made (under /proc). */
function makeFolder(folder: string): void {
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    if (dirname(folder) !== folder) makeFolder(dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && !('code' in error)) throw error;
    throw new Error(`The folder ${folder} cannot be made or used. DATA_DIR names where to keep everything.`, {
      cause: error,
    });
  }
}

/** One command at a time uses a data folder: throws a sentence that says who does. Waits for one that is about to end. */
export async function takeLock(dataDir: string, command: string, url?: string): Promise<Lock> {
  makeFolder(dataDir);
  const file = join(dataDir, 'running.json');
  const own = `${file}.${process.pid}`;
  const holder: Holder = { ...identify(process.pid)!, command, ...(url && { url }), children: [] };
  const began = Date.now();
  let afterCrash = false;
  const save = () => {
    writeFileSync(own, JSON.stringify(holder), { mode: 0o600 });
    renameSync(own, file);
  };
  for (;;) {
    writeFileSync(own, JSON.stringify(holder), { mode: 0o600 });
    try {
      linkSync(own, file);
      rmSync(own);
      break;
    } catch (error) {
      rmSync(own, { force: true });
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = readHolder(dataDir);
    if (other && lives(other)) {
      // A start whose npm was killed needs a moment to notice; an operator command needs a moment to finish.
      const patience = other.stopping || other.command.includes('operator') ? 45_000 : 2_500;
      if (Date.now() - began > patience) throw new Error(inUse(dataDir, other));
      await pause(50);
      continue;
    }
    afterCrash = true;
    if (other) await seeOut(other.children);
    takeAway(file, other);
  }
  return {
    afterCrash,
    addChild(pid) {
      const child = identify(pid);
      if (child) holder.children.push(child);
      save();
    },
    stopping() {
      holder.stopping = true;
      save();
    },
    release() {
      rmSync(file, { force: true });
    },
  };
}

/** Who holds the folder, also when it no longer lives. */
export function readHolder(dataDir: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'running.json'), 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function inUse(dataDir: string, { command, pid, url }: Holder): string {
  const where = url ? ` at ${url}` : '';
  return `\`${command}\` already runs on ${dataDir}${where} (process ${pid}). Stop it first, or start this one with another DATA_DIR and PORT.`;
}

/** The children of a killed process end by themselves; one that does not within seconds is ended. */
async function seeOut(children: readonly ProcessIdentity[]): Promise<void> {
  const deadline = Date.now() + 4000;
  while (children.some(lives) && Date.now() < deadline) await pause(30);
  for (const child of children.filter(lives)) process.kill(child.pid, 'SIGKILL');
}

/** Removes a dead holder's file, unless another process has done so meanwhile and put its own there. */
function takeAway(file: string, dead: Holder | undefined): void {
  const aside = `${file}.dead-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readFileSync(aside, 'utf8');
  if (dead && moved !== JSON.stringify(dead)) {
    try {
      linkSync(aside, file);
    } catch {
      // A third process took the place in between; the owner of the file that we moved finds that out when it saves.
    }
  }
  rmSync(aside, { force: true });
}
