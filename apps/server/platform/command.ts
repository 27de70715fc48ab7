import { createInterface } from 'node:readline/promises';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { csvLine } from '#core/csv.ts';
import type { Wired } from '../wire.ts';
import type { Config } from './config/config.ts';
import { isUuid } from './database/isUuid.ts';

/** A command for staff. Its exit status is 0 if everything was done, 1 if it failed or did only a part, 2 for wrong arguments. */
export interface Command {
  /** The words that name the command, then its arguments. */
  usage: string;
  summary: string;
  run(args: string[], wired: Wired): Promise<number>;
}

/** A command that needs only the settings. The command gets no database connection, so it can run before the migrations. */
export interface LoneCommand extends Omit<Command, 'run'> {
  runAlone(args: string[], config: Config): Promise<number>;
}

/** Returns a text without the characters that a terminal interprets: control characters, line breaks and bidirectional controls. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '');
}

/** Prints one line of a CSV file on standard output. */
export function printCsvLine(cells: readonly string[]): void {
  // csvLine ends a line with CR LF (RFC 4180). The LF is cut off, because console.log adds one.
  console.log(csvLine(cells.map(plain)).slice(0, -1));
}

/** Prints `fault` (why an argument is wrong) if there is one, then how to use the command. Returns the exit status. */
export function misused({ usage }: Pick<Command, 'usage'>, fault?: string | null): number {
  if (fault) console.error(plain(fault));
  console.error(`Usage: npm run operator -- ${usage}`);
  return 2;
}

/** Returns null if `given` is absent or looks like an id. Otherwise returns a sentence that says which command prints the ids. */
export function notId(of: 'join' | 'letter' | 'document', given: string | undefined): string | null {
  if (given === undefined || given === '' || isUuid(given)) return null;
  const printedBy = { join: 'find NAME', letter: 'letters list --all', document: 'documents show JOIN' }[of];
  return `"${given}" is not the id of a ${of}, as npm run operator -- ${printedBy} prints it.`;
}

/** Parses the arguments. If an argument is unknown or lacks its value, prints an error message and returns null. */
export function readArgs<const Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, allowPositionals: true, allowNegative: true, options });
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) throw error;
    console.error((error as Error).message);
    return null;
  }
}

/** Asks a yes-or-no question at the terminal. Returns whether the answer is yes; false without a terminal. */
export async function askPerson(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

/**
 * Finds the command with the longest name that matches the first words of `args`. Returns the command and the rest of `args`, or
 * null if no command matches.
 */
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

/** Returns the words of a command's name, without its arguments: "invitations import FILE.csv" → ["invitations", "import"]. */
function wordsOf({ usage }: Pick<Command, 'usage'>): string[] {
  const words = usage.split(' ');
  const first = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
  return first < 0 ? words : words.slice(0, first);
}
