import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { Deps } from '../server/deps.ts';
import { isThere } from '../server/platform/database/isThere.ts';
import type { ByStaff } from '../server/platform/deps.ts';
import { Failed } from '../server/platform/failed.ts';
import { type Kind, kinds } from './kinds.ts';
import { print, Stopped, warn, warnAll } from './print.ts';
import { sentenceOf } from './sentences/failures.ts';

/**
 * The arguments and options that staff may type after a command's name. Each value has one of the {@link kinds}, by whose name it
 * appears in `usage`: `JOIN|all` is the id of a join or the word "all". `[JOIN]` is optional.
 */
interface Typed {
  /** The words that name the command, then its arguments and options. */
  usage: string;
  summary: string;
  /** The kinds of the arguments, in order. The last one may be `NAME…`, which stands for all remaining words. */
  args?: readonly string[];
  /** Options without a value. `yes` and `dry-run` exclude each other. */
  flags?: readonly string[];
  /** The names of the options that have a value, each with the value's kind. */
  texts?: Readonly<Record<string, string>>;
}

/** The dependencies of a command. The `actor` is the member of staff who typed it. */
export type StaffDeps = ByStaff<Deps>;

type Args = readonly (string | undefined)[];
type Options = Record<string, string | boolean | undefined>;

/**
 * A command for staff. `run` returns false if the command failed or did only a part. It throws {@link Misuse} for arguments that
 * do not fit together, and {@link Failed} or another error with a sentence for staff.
 */
export interface Command extends Typed {
  run(deps: StaffDeps, args: Args, options: Options): Promise<boolean | undefined>;
  /**
   * Whether the command needs only the settings. It then gets no other dependencies, and no connection is opened, so it can run
   * before the migrations.
   */
  isAlone?: boolean;
}

/** The types of the values of arguments or options, by their kinds. */
type Values<Kinds> = {
  [Key in keyof Kinds]: Kinds[Key] extends `[${string}]` ? string | undefined : string;
};

/** A command whose function `run` gets its arguments and options with their exact types. */
interface Described<Deps, A extends readonly string[], F extends string, T extends Record<string, string>>
  extends Typed {
  args?: A;
  flags?: readonly F[];
  texts?: T;
  run(deps: Deps, args: Values<A>, options: Record<F, boolean> & Values<T>): Promise<boolean | undefined>;
}

export function command<
  const A extends readonly string[] = [],
  const F extends string = never,
  const T extends Record<string, string> = Record<never, string>,
>(described: Described<StaffDeps, A, F, T>): Command {
  return described;
}

/** Returns a command that needs only the settings. */
export function loneCommand<
  const A extends readonly string[] = [],
  const F extends string = never,
  const T extends Record<string, string> = Record<never, string>,
>(described: Described<Pick<StaffDeps, 'config'>, A, F, T>): Command {
  return { ...described, isAlone: true };
}

/** Thrown if the arguments are wrong. The message is the reason; it is empty if the usage line is explanation enough. */
export class Misuse extends Error {}

/** Parses the words that were typed after a command's name. Throws {@link Misuse}. */
export function readArguments(
  { args: kindsOfArgs = [], flags = [], texts = {} }: Typed,
  typed: readonly string[],
): { args: Args; options: Options } {
  const { positionals, values } = parse(typed, flags, Object.keys(texts));
  if (values.yes === true && values['dry-run'] === true) throw new Misuse();
  const isOpen = kindsOfArgs.at(-1)?.endsWith('…');
  if (!isOpen && positionals.length > kindsOfArgs.length) throw new Misuse();
  const args = kindsOfArgs.map((kind, at) =>
    kind.endsWith('…')
      ? readOne(kind.slice(0, -1), positionals.slice(at).join(' '))
      : readOne(kind, positionals[at]),
  );
  const given = Object.entries(texts).map(([name, kind]) => [
    name,
    readOne(kind, values[name] as string | undefined),
  ]);
  const flagged = flags.map((name) => [name, values[name] === true]);
  return { args, options: Object.fromEntries([...given, ...flagged]) };
}

function parse(typed: readonly string[], flags: readonly string[], texts: readonly string[]) {
  const options: ParseArgsOptionsConfig = {};
  for (const name of flags) options[name] = { type: 'boolean' };
  for (const name of texts) options[name] = { type: 'string' };
  try {
    return parseArgs({ args: [...typed], allowPositionals: true, options });
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) throw error;
    throw new Misuse((error as Error).message);
  }
}

/** Parses an argument according to its kind. */
function readOne(named: string, text: string | undefined): string | undefined {
  const isOptional = named.startsWith('[');
  if (text === undefined) {
    if (isOptional) return undefined;
    throw new Misuse();
  }
  const alternatives = (isOptional ? named.slice(1, -1) : named).split('|');
  let fault = '';
  for (const name of alternatives) {
    const kind: Kind | undefined = kinds[name];
    const isAny = /^[A-Z]/.test(name) && text !== '';
    const read = kind ? kind.read(text) : isAny || name === text ? text : null;
    if (read !== null) return read;
    fault ||= kind?.fault?.(text) ?? '';
  }
  throw new Misuse(fault);
}

/**
 * Runs a command, and prints the reason if it fails. Returns the exit status: 1 if the command failed or did only a part, 2 for
 * wrong arguments.
 */
export async function execute(
  command: Command,
  typed: readonly string[],
  deps: StaffDeps | Pick<StaffDeps, 'config'>,
): Promise<0 | 1 | 2> {
  try {
    const { args, options } = readArguments(command, typed);
    // A command without `isAlone` gets all dependencies.
    const isDone = await command.run(deps as StaffDeps, args, options);
    return isDone === false ? 1 : 0;
  } catch (error) {
    if (error instanceof Misuse) return misused(command, error.message);
    if (error instanceof Stopped) {
      if (error.message !== '') print(error.message);
      return error.isDone ? 0 : 1;
    }
    const sentence = sentenceOf(error);
    if (sentence === null) throw error;
    warnAll(sentence.split('\n'));
    return 1;
  }
}

/** Prints the reason why an argument is wrong, if there is one, and then the command's usage. Returns the exit status. */
function misused(command: Typed, fault: string): 2 {
  if (fault !== '') warn(fault);
  console.error(describeCommand(command, USAGE));
  return 2;
}

/** Throws {@link Failed} if there is no join, or no contact in the mirror, with this id. */
export async function requireThere(
  { database }: Pick<StaffDeps, 'database'>,
  kind: 'join' | 'contact',
  id: string,
): Promise<void> {
  if (!(await isThere(database, kind, id)))
    throw new Failed(kind === 'join' ? noJoin(id) : `Induct knows no contact ${id}.`);
}

export const noJoin = (uuid: string): string => `There is no join ${uuid}.`;

const WIDTH = 80;
export const USAGE = 'Usage: npm run operator -- ';

/** Returns a command's usage and summary, in lines of at most {@link WIDTH} characters. */
export function describeCommand({ usage, summary }: Pick<Typed, 'usage' | 'summary'>, before = ''): string {
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

/**
 * Finds the command with the longest name that matches the first words of `args`. Returns the command and the rest of `args`, or
 * null if no command matches.
 */
export function commandNamed<Named extends Pick<Typed, 'usage'>>(
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
function wordsOf({ usage }: Pick<Typed, 'usage'>): string[] {
  const words = usage.split(' ');
  const first = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
  return first < 0 ? words : words.slice(0, first);
}

/**
 * Returns the commands that the words `args` may be a misspelling of: their name differs by at most two letters. The most similar
 * comes first.
 */
export function similarTo<Named extends Pick<Typed, 'usage'>>(
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

/** Returns how many letters must be added, removed or replaced to turn `a` into `b` (the Levenshtein distance). */
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
