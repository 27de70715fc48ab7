import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, lives, type ProcessIdentity } from './processes.ts';

/** The process that uses a data folder, as recorded in the folder's `running.json`. */
export interface Holder extends ProcessIdentity {
  /** The command that was typed, for use in sentences. */
  command: string;
  /** The URL at which the command serves, or will serve. */
  url?: string;
  stopping?: boolean;
  children: ProcessIdentity[];
}

export interface Lock {
  /** Records a child process. If this process is killed, the next command waits for the child to end. */
  addChild(pid: number): void;
  /** Marks the lock as about to be released, so that other commands wait instead of failing. */
  stopping(): void;
  release(): void;
  /** Whether the previous holder was killed. */
  afterCrash: boolean;
}

/**
 * Makes a folder and its parents, one by one. Node's recursive mkdir would never return where a parent cannot be made (under
 * /proc).
 */
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

/**
 * Takes the lock on a data folder, which only one command at a time may use. Waits for a holder that is about to end; otherwise
 * throws a sentence that names the holder.
 */
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
      // How long to wait for the holder to end by itself. A holder whose npm was killed notices that within a moment. A holder
      // that is already stopping, or that is an operator command, may need longer than that.
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

/** Returns the process that holds the folder's lock, or that died without releasing it. Undefined when there is none. */
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

/** Waits for the children of a killed process to end by themselves. Kills those that do not end within 4 s. */
async function seeOut(children: readonly ProcessIdentity[]): Promise<void> {
  const deadline = Date.now() + 4000;
  while (children.some(lives) && Date.now() < deadline) await pause(30);
  for (const child of children.filter(lives)) process.kill(child.pid, 'SIGKILL');
}

/** Removes a dead holder's lock file, unless another process has meanwhile replaced it. */
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
      // A third process has taken the lock in between.
    }
  }
  rmSync(aside, { force: true });
}
