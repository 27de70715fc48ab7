import { createHash } from 'node:crypto';

/** A range in a file, as StrykerJS reports it: lines and columns from 1, the end excluded. */
export interface Place {
  start: { line: number; column: number };
  end: { line: number; column: number };
}

export interface Mutant {
  /** Relative to the root of the repository. */
  fileName: string;
  mutatorName: string;
  replacement: string;
  location: Place;
}

/** The result of a mutant, by StrykerJS's names. `Ignored`: its kind is excluded. */
export type Status =
  | 'Killed'
  | 'Timeout'
  | 'Survived'
  | 'NoCoverage'
  | 'RuntimeError'
  | 'CompileError'
  | 'Ignored';
export interface Result extends Mutant {
  status: Status;
}

/**
 * An entry of accepted.json: a mutant that no test needs to catch. `original` is the replaced text. `line`, needed only when that
 * text occurs elsewhere too, is the trimmed source line in which `original` begins.
 */
export interface Accepted {
  /** The scope of the mutant (run.ts). It must be given, since the scopes `server` and `sql` both mutate the same files. */
  scope: string;
  file: string;
  original: string;
  replacement: string;
  line?: string;
  why: string;
}

export interface Outcome {
  /** How many mutants were caught, including those that ran too long. */
  caught: number;
  /** How many mutants ran too long (`Timeout`), which counts as caught. */
  tooLong: number;
  accepted: number;
  survived: Result[];
  couldNotRun: Result[];
}

/**
 * The maximum number of mutants that may lie within the range of a drawn mutant, including itself. A mutant with more is not
 * drawn: for example a mutant that empties a function, since all mutants of the function's body lie within its range.
 */
const MOST_IN_A_PLACE = 6;

/**
 * Draws mutants at random by the seed, until at least `least` are drawn, or all. StrykerJS cannot make single mutants, only all
 * mutants within a range of a file. So all mutants within the range of a drawn one count as drawn, and the result may have a few
 * more than `least`.
 *
 * Whether a mutant is drawn depends on its own text, not on where it is in the file. So after a change elsewhere in the code, the
 * same seed draws the same mutants, except that new mutants may replace some of them. `sourceOf` returns the text of a file.
 */
export function draw(
  all: readonly Mutant[],
  least: number,
  seed: number,
  sourceOf: (file: string) => string,
): Mutant[] {
  if (least >= all.length) return [...all];
  const drawn = new Set<Mutant>();
  for (const place of shuffled(all, seed, sourceOf)) {
    if (drawn.size >= least) break;
    const within = all.filter((mutant) => isWithin(mutant, place));
    if (within.length <= MOST_IN_A_PLACE) for (const mutant of within) drawn.add(mutant);
  }
  return [...drawn];
}

/** Sorts mutants by a hash of the seed and of the mutant: its file, its line, the replaced text and the replacement. */
function shuffled(
  all: readonly Mutant[],
  seed: number,
  sourceOf: (file: string) => string,
): readonly Mutant[] {
  const times = new Map<string, number>();
  const ranked = all.map((mutant) => {
    const source = sourceOf(mutant.fileName);
    const identity = [
      mutant.fileName,
      lineOf(mutant, source),
      originalOf(mutant, source),
      mutant.replacement,
    ];
    const name = JSON.stringify(identity);
    const time = (times.get(name) ?? 0) + 1;
    times.set(name, time);
    return { mutant, rank: createHash('sha256').update(`${seed} ${time} ${name}`).digest('hex') };
  });
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ mutant }) => mutant);
}

export function isWithin(inner: Mutant, outer: Mutant): boolean {
  const isOrdered = (a: Place['start'], b: Place['start']) =>
    a.line < b.line || (a.line === b.line && a.column <= b.column);
  return (
    inner.fileName === outer.fileName &&
    isOrdered(outer.location.start, inner.location.start) &&
    isOrdered(inner.location.end, outer.location.end)
  );
}

/** Returns the range of a mutant for StrykerJS's option `mutate`, which counts columns from 0. */
export function rangeOf({ fileName, location: { start, end } }: Mutant): string {
  return `${fileName}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
}

/** Returns the text that a mutant replaces. */
export function originalOf({ location: { start, end } }: Mutant, source: string): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1);
  lines[0] = lines[0]!.slice(start.column - 1);
  return lines.join('\n');
}

export function isAccepted(mutant: Mutant, source: string, entry: Accepted): boolean {
  return (
    mutant.fileName === entry.file &&
    mutant.replacement === entry.replacement &&
    originalOf(mutant, source) === entry.original &&
    (entry.line === undefined || lineOf(mutant, source) === entry.line)
  );
}

/** Returns the line in which a mutant begins, trimmed. */
function lineOf({ location: { start } }: Mutant, source: string): string {
  return source.split('\n')[start.line - 1]!.trim();
}

/** Returns the entries of accepted.json that match no existing mutant. `sourceOf` returns the text of a file. */
export function staleEntries(
  accepted: readonly Accepted[],
  all: readonly Mutant[],
  sourceOf: (file: string) => string,
): Accepted[] {
  return accepted.filter(
    (entry) => !all.some((mutant) => isAccepted(mutant, sourceOf(mutant.fileName), entry)),
  );
}

/**
 * Returns the entries that are not needed, since a test caught every mutant that they match. Entries whose mutants were not run are
 * left out.
 */
export function needlessEntries(
  accepted: readonly Accepted[],
  results: readonly Result[],
  sourceOf: (file: string) => string,
): Accepted[] {
  return accepted.filter((entry) => {
    const meant = results.filter((result) => isAccepted(result, sourceOf(result.fileName), entry));
    return meant.length > 0 && meant.every(isCaught);
  });
}

export function outcomeOf(
  results: readonly Result[],
  accepted: readonly Accepted[],
  sourceOf: (file: string) => string,
): Outcome {
  const run = results.filter(({ status }) => status !== 'Ignored');
  const survived = run.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const open = survived.filter(
    (mutant) => !accepted.some((entry) => isAccepted(mutant, sourceOf(mutant.fileName), entry)),
  );
  return {
    caught: run.filter(isCaught).length,
    tooLong: run.filter(({ status }) => status === 'Timeout').length,
    accepted: survived.length - open.length,
    survived: open,
    couldNotRun: run.filter((result) => !isCaught(result) && !survived.includes(result)),
  };
}

function isCaught({ status }: Result): boolean {
  return status === 'Killed' || status === 'Timeout';
}

/**
 * Folders of the server that most other folders import. The tests of such a folder do not count as near the folders that import
 * it.
 */
const foundations = ['platform', 'providers', 'session', 'society'];
/** Folders without their own tests, and the folders whose tests cover them. */
const testedIn: Record<string, readonly string[]> = { membership: ['join', 'checkout'] };

/**
 * Returns the tests for a changed file, in groups. For a file of the server, the first group has the tests of its folder. The
 * second group has the tests of the folders that import this folder, or are imported by it and are not among the {@link
 * foundations}. For any other file, one group has all tests. `arrows` are the imports between folders (tools/local/walls.ts).
 */
export function nearTests(
  file: string,
  tests: readonly string[],
  arrows: Readonly<Record<string, readonly string[]>>,
): string[][] {
  const roomOf = (path: string) => /^apps\/server\/([^/]+)\//.exec(path)?.[1];
  const room = roomOf(file);
  if (room === undefined) return [[...tests]];
  const imported = (arrows[room] ?? []).filter((other) => !foundations.includes(other));
  const importing = Object.keys(arrows).filter((other) => arrows[other]!.includes(room));
  const near = [...imported, ...importing, ...(testedIn[room] ?? [])];
  return [
    tests.filter((test) => roomOf(test) === room),
    tests.filter((test) => near.includes(roomOf(test) ?? '')),
  ];
}

/**
 * Returns the test files that load a file, nearest first: the test of the same name, then by the number of imports in between,
 * then by name. `importsOf` returns the files that a file imports.
 */
export function testsOf(
  file: string,
  tests: readonly string[],
  importsOf: (file: string) => readonly string[],
): string[] {
  const own = file.replace(/\.ts$/, '.test.ts');
  const distances = tests.map((test) => ({
    test,
    distance: test === own ? 0 : distanceBetween(test, file, importsOf),
  }));
  return distances
    .filter(({ distance }) => distance !== null)
    .sort((a, b) => a.distance! - b.distance! || (a.test < b.test ? -1 : 1))
    .map(({ test }) => test);
}

function distanceBetween(
  from: string,
  to: string,
  importsOf: (file: string) => readonly string[],
): number | null {
  const seen = new Set([from]);
  let layer = [from];
  for (let distance = 0; layer.length > 0; distance++) {
    if (layer.includes(to)) return distance;
    layer = layer.flatMap(importsOf).filter((file) => !seen.has(file) && seen.add(file));
  }
  return null;
}
