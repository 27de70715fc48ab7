import { createInterface } from 'node:readline';
import { plain } from '#core/cleanText.ts';
import { csvLine } from '#core/csv.ts';

type Cell = string | false | null | undefined;

/**
 * Prints one line on standard output: these cells, two spaces apart, without those that are empty. Control characters and line
 * breaks are removed, because names and other input could control the terminal.
 */
export function print(...cells: Cell[]): void {
  console.log(lineOf(cells));
}

/** Prints one line on standard error, as {@link print} does. */
export function warn(...cells: Cell[]): void {
  console.error(lineOf(cells));
}

const lineOf = (cells: Cell[]) =>
  cells
    .filter((cell) => typeof cell === 'string' && cell !== '')
    .map((cell) => plain(cell as string))
    .join('  ');

/** Prints each of these lines on standard output. */
export function printAll(lines: readonly string[]): void {
  for (const line of lines) print(line);
}

/** Prints each of these lines on standard error. */
export function warnAll(lines: readonly string[]): void {
  for (const line of lines) warn(line);
}

/** Prints one line of a CSV file on standard output. */
export function printCsvLine(cells: readonly string[]): void {
  // csvLine ends a line with CR LF (RFC 4180). The LF is cut off, because console.log adds one.
  console.log(csvLine(cells.map(plain)).slice(0, -1));
}

/** Returns the day of a time, in UTC: 2026-11-30. */
export const day = (date: Date): string => date.toISOString().slice(0, 10);

/** Returns a time to the minute, in UTC: 2026-11-30T12:00Z. */
export const minute = (date: Date): string => `${date.toISOString().slice(0, 16)}Z`;

/** Ends a command early: there is nothing more to do. */
export class Stopped extends Error {
  readonly isDone: boolean;
  constructor(isDone: boolean, message = '') {
    super(message);
    this.isDone = isDone;
  }
}

/**
 * Asks for confirmation before something that cannot be undone, unless `yes` is given. Throws {@link Stopped} if the answer is
 * no; `done` is the participle for its message, "Nothing was refunded". In a trial throws it at once, without asking.
 */
export async function agree(
  question: string,
  done: string,
  { yes, 'dry-run': isTrial = false }: { yes: boolean; 'dry-run'?: boolean },
): Promise<void> {
  if (isTrial) throw new Stopped(true);
  if (!yes && !(await askPerson(question)))
    throw new Stopped(false, `Nothing was ${done}: say yes, or give --yes.`);
}

/**
 * Asks a yes-or-no question at the terminal. Returns whether the answer is yes. Without a terminal, and after Ctrl-C or Ctrl-D,
 * the answer is no.
 */
async function askPerson(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => {
      process.stdout.write('\n');
      resolve('');
    });
    terminal.question(`${question} [y/N] `, resolve);
  });
  terminal.removeAllListeners('close');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
