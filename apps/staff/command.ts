import { createInterface } from 'node:readline';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { plain } from '#core/cleanText.ts';
import { csvLine } from '#core/csv.ts';
import type { Deps } from '../server/deps.ts';
import type { Config } from '../server/platform/config/config.ts';
import type { Database } from '../server/platform/database/client.ts';
import { isThere } from '../server/platform/database/isThere.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import type { ByStaff } from '../server/platform/deps.ts';
import type { Wired } from '../server/wire.ts';

/** A command for staff. Its exit status is 0 if everything was done, 1 if it failed or did only a part, 2 for wrong arguments. */
export interface Command {
  /** The words that name the command, then its arguments. */
  usage: string;
  /** The options in `usage`. Absent if there are none. */
  options?: ParseArgsOptionsConfig;
  summary: string;
  run(args: string[], wired: StaffWired): Promise<number>;
}

/** What a command works with, for the member of staff who typed it. */
export interface StaffWired extends Wired {
  deps: ByStaff<Deps>;
}

/** A command that needs only the settings. The command gets no database connection, so it can run before the migrations. */
export interface LoneCommand extends Omit<Command, 'run'> {
  runAlone(args: string[], config: Config): Promise<number>;
}

/** Prints one line of a CSV file on standard output. */
export function printCsvLine(cells: readonly string[]): void {
  // csvLine ends a line with CR LF (RFC 4180). The LF is cut off, because console.log adds one.
  console.log(csvLine(cells.map(plain)).slice(0, -1));
}

/** Prints `fault` (why an argument is wrong) if there is one, then how to use the command. Returns the exit status. */
export function misused(command: Pick<Command, 'usage' | 'summary'>, fault?: string | null): number {
  if (fault) console.error(plain(fault));
  console.error(describeCommand(command, USAGE));
  return 2;
}

const WIDTH = 80;
export const USAGE = 'Usage: npm run operator -- ';

/** Returns how a command is used and what it does, in lines of at most {@link WIDTH} characters. */
export function describeCommand({ usage, summary }: Pick<Command, 'usage' | 'summary'>, before = ''): string {
  // An option stays on a line with its value.
  const [first, ...others] = wrap(`${before}${usage}`.split(/ (?![^[]*\])/), WIDTH - 6);
  const indented = [...others, ...wrap(summary.split(' '), WIDTH - 6)].map((line) => `      ${line}`);
  return [before === '' ? `  ${first}` : first, ...indented].join('\n');
}

/** Joins words to lines of at most `width` characters. */
function wrap(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Returns null if `given` is absent or looks like an id. Otherwise returns a sentence that says which command prints the ids. */
export function notId(of: 'join' | 'letter' | 'document', given: string | undefined): string | null {
  if (given === undefined || given === '' || isUuid(given)) return null;
  const printedBy = { join: 'find NAME', letter: 'letters list --all', document: 'documents show JOIN' }[of];
  return `"${given}" is not the id of a ${of}, as npm run operator -- ${printedBy} prints it.`;
}

/** Returns whether there is no join, or no contact in the mirror, with this id. If so, prints that. */
export async function isAbsent(database: Database, kind: 'join' | 'contact', id: string): Promise<boolean> {
  if (await isThere(database, kind, id)) return false;
  console.error(kind === 'join' ? `There is no join ${id}.` : `Induct knows no contact ${id}.`);
  return true;
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

/**
 * Asks a yes-or-no question at the terminal. Returns whether the answer is yes. Without a terminal, and after Ctrl-C or Ctrl-D,
 * the answer is no.
 */
export async function askPerson(question: string): Promise<boolean> {
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

/**
 * Asks before something that cannot be taken back, unless `yes` is given. Returns whether to do it. If not, prints that nothing
 * was done: `done` is the participle, as in "Nothing was refunded".
 */
export async function agrees(
  question: string,
  { yes, done }: { yes: boolean; done: string },
): Promise<boolean> {
  if (yes || (await askPerson(question))) return true;
  console.log(`Nothing was ${done}: say yes, or give --yes.`);
  return false;
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

/** Returns the commands that the words `args` may be a slip for: those whose name is at most two letters away, the nearest first. */
export function similarTo<Named extends Pick<Command, 'usage'>>(
  commands: readonly Named[],
  args: readonly string[],
): Named[] {
  return commands
    .map((command) => {
      const words = wordsOf(command);
      return { command, away: distance(words.join(' '), args.slice(0, words.length).join(' ')) };
    })
    .filter(({ away }) => away <= 2)
    .sort((a, b) => a.away - b.away)
    .map(({ command }) => command);
}

/** Returns how many letters must be added, removed or replaced to make `b` of `a` (the Levenshtein distance). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j]! + (letter === b[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1));
    row = next;
  }
  return row[b.length]!;
}
