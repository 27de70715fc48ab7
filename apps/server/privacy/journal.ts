import { existsSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Deps } from '../deps.ts';

/**
 * One erasure, as a line of JSON. It names nobody: the email as a keyed hash (hex), and ids that lead to nothing once they are erased. By
 * it the erasure is made again in a database that was restored from a backup of before.
 */
export interface JournalEntry {
  at: string;
  email: string;
  joins: string[];
  contacts: string[];
}

export function journalPath({ config }: Pick<Deps, 'config'>): string {
  return join(config.dataDir, 'erasures.jsonl');
}

/** Durable when it resolves. */
export async function writeJournal(path: string, entry: JournalEntry): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a', 0o600);
  try {
    await file.appendFile(`${JSON.stringify(entry)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Null: there is no such file. Throws for a line that is none of ours. */
export async function readJournal(path: string): Promise<JournalEntry[] | null> {
  if (!existsSync(path)) return null;
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const entry = parsed(line);
    if (entry === null) throw new Error(`${path}, line ${index + 1}: this is no erasure.`);
    return [entry];
  });
}

function parsed(line: string): JournalEntry | null {
  try {
    const { at, email, joins, contacts } = JSON.parse(line) as JournalEntry;
    const areTexts = [joins, contacts].every((list) => list.every((one) => typeof one === 'string'));
    return areTexts && /^[0-9a-f]{32}$/.test(email) && !Number.isNaN(Date.parse(at))
      ? { at, email, joins, contacts }
      : null;
  } catch {
    return null;
  }
}
