import { createInterface } from 'node:readline/promises';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { csvLine } from '#core/csv.ts';
import type { Wired } from '../wire.ts';
import type { Config } from './config/config.ts';

/** One command of staff. Exit status 0: done; 1: not, or not all; 2: not understood. */
export interface Command {
  /** The words that name it, then its arguments. */
  usage: string;
  summary: string;
  run(args: string[], wired: Wired): Promise<number>;
}

/** A command that needs only the settings: it runs without a database, and before any migration. */
export interface LoneCommand extends Omit<Command, 'run'> {
  runAlone(args: string[], config: Config): Promise<number>;
}

/** Text from outside without characters that a terminal acts on: control characters, line ends, and bidirectional controls. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '');
}

/** One line of a CSV file on standard output. */
export function printCsvLine(cells: readonly string[]): void {
  // console.log ends each line by itself, and RFC 4180 ends it with CR LF.
  console.log(csvLine(cells.map(plain)).slice(0, -1));
}

export function misused({ usage }: Pick<Command, 'usage'>): number {
  console.error(`Usage: npm run operator -- ${usage}`);
  return 2;
}

/** Whether the person at the terminal agrees; false where nobody can be asked. */
export async function askPerson(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question('Do this? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}

/** The parsed arguments. Null when one is unknown or lacks its value; the message has been printed. */
export function readArgs<const Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, allowPositionals: true, allowNegative: true, options });
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) throw error;
    console.error((error as Error).message);
    return null;
  }
}

/** The command with the longest name that matches the first words, and the arguments that follow; null when none matches. */
export function commandNamed<Named extends Pick<Command, 'usage'>>(
  commands: readonly Named[],
  args: readonly string[],
): { command: Named; rest: string[] } | null {
  const [longest] = commands
    .map((command) => ({ command, words: wordsOf(command) }))
    .filter(({ words }) => words.every((word, index) => args[index] === word))
    .sort((a, b) => b.words.length - a.words.length);
  return longest ? { command: longest.command, rest: args.slice(longest.words.length) } : null;
}

/** The words before the first argument or option: "invitations import FILE.csv" → ["invitations", "import"]. */
function wordsOf({ usage }: Pick<Command, 'usage'>): string[] {
  const words = usage.split(' ');
  const first = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
  return first < 0 ? words : words.slice(0, first);
}
