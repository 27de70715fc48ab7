import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Deps } from '../deps.ts';

/**
 * One erasure, stored as a line of JSON. With it the erasure can be repeated in a database that is restored from an older backup.
 * The line identifies nobody: it has keyed hashes (hex) of the person's emails, and ids that lead to nobody after the erasure.
 */
export interface JournalEntry {
  at: string;
  emails: string[];
  joins: string[];
  contacts: string[];
}

export function journalPath({ config }: Pick<Deps, 'config'>): string {
  return join(config.dataDir, 'erasures.jsonl');
}

/** Appends an entry to the journal. Resolves when the entry is on disk. */
export async function writeJournal(path: string, entry: JournalEntry): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a+', 0o600);
  try {
    const begin = (await endsWithLine(file)) ? '' : '\n';
    await file.appendFile(`${begin}${JSON.stringify(entry)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}

/**
 * Whether the file is empty or ends with a line break. If not, its last entry was cut off, and the next entry must start on a new
 * line.
 */
async function endsWithLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() === '\n';
}

export interface Journal {
  entries: JournalEntry[];
  /** One sentence for each line that is not a valid entry, except a cut-off last line. */
  faults: string[];
  /**
   * A sentence about a last line that was cut off; null if there is none. The erasure that was writing that line has removed
   * nothing from this database.
   */
  unfinished: string | null;
}

/** Reads a journal. Returns null when the file does not exist. */
export async function readJournal(path: string): Promise<Journal | null> {
  if (!existsSync(path)) return null;
  const lines = (await readFile(path, 'utf8')).split('\n');
  const journal: Journal = { entries: [], faults: [], unfinished: null };
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const entry = parsed(line);
    const place = `${path}, line ${index + 1}`;
    if (entry !== null) journal.entries.push(entry);
    else if (index < lines.length - 1) journal.faults.push(`${place}: this is no erasure.`);
    else
      journal.unfinished = `${place}: it was half written when this machine went down, and nothing was erased by it. It is skipped.`;
  }
  return journal;
}

/** Appends to the journal `to` the entries of `from` that `to` lacks. Returns how many entries were appended. */
export async function mergeJournal(from: string, to: string): Promise<number> {
  const present = new Set((await readJournal(to))?.entries.map((entry) => JSON.stringify(entry)));
  const more = ((await readJournal(from))?.entries ?? []).filter(
    (entry) => !present.has(JSON.stringify(entry)),
  );
  for (const entry of more) await writeJournal(to, entry);
  return more.length;
}

function parsed(line: string): JournalEntry | null {
  try {
    const { at, emails, joins, contacts } = JSON.parse(line) as JournalEntry;
    const areTexts = [emails, joins, contacts].every((list) => list.every((one) => typeof one === 'string'));
    const areHashes = areTexts && emails.length > 0 && emails.every((hash) => /^[0-9a-f]{32}$/.test(hash));
    return areHashes && !Number.isNaN(Date.parse(at)) ? { at, emails, joins, contacts } : null;
  } catch {
    return null;
  }
}
