import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Accepted,
  draw,
  isAccepted,
  isWithin,
  type Mutant,
  nearTests,
  needlessEntries,
  originalOf,
  outcomeOf,
  type Result,
  rangeOf,
  staleEntries,
  testsOf,
} from './mutants.ts';
import { placeOf } from './sql.ts';

const source = `const a = [];
  if (cents > 0 && isPaid)
    pay([]);
`;
/** Returns the mutant that replaces a text of the source above, at its first occurrence after `from`. */
function mutant(original: string, replacement: string, from = 0, fileName = 'a.ts'): Mutant {
  const at = source.indexOf(original, from);
  const location = { start: placeOf(source, at), end: placeOf(source, at + original.length) };
  return { fileName, mutatorName: 'Any', replacement, location };
}
const whole = mutant('cents > 0 && isPaid', 'true');
const part = mutant('cents > 0', 'cents >= 0');
const list = mutant('[]', '["x"]');
const secondList = mutant('[]', '["x"]', 20);
const result = (of: Mutant, status: Result['status']): Result => ({ ...of, status });
const entry: Accepted = {
  scope: 'server',
  file: 'a.ts',
  original: 'cents > 0',
  replacement: 'cents >= 0',
  why: 'It is whole.',
};
const sourceOf = () => source;

test('a mutant knows the text that it replaces, over several lines too', () => {
  for (const text of ['[]', 'cents > 0', 'isPaid)\n    pay(', source.trimEnd()])
    assert.equal(originalOf(mutant(text, ''), source), text);
});

test('a place is told to StrykerJS with lines from 1 and columns from 0', () => {
  assert.equal(rangeOf(part), 'a.ts:2:6-2:15');
});

test('what stands within a place is within it, itself included; nothing in another file is', () => {
  assert.deepEqual(
    [isWithin(part, whole), isWithin(whole, whole), isWithin(whole, part), isWithin(list, whole)],
    [true, true, false, false],
  );
  assert.equal(isWithin({ ...part, fileName: 'b.ts' }, whole), false);
});

test('an entry accepts the mutant of its file, text and replacement, and of its line where one is named', () => {
  assert.equal(isAccepted(part, source, entry), true);
  for (const change of [{ file: 'b.ts' }, { original: 'cents' }, { replacement: 'true' }])
    assert.equal(isAccepted(part, source, { ...entry, ...change }), false);
  const lists: Accepted = { scope: 'server', file: 'a.ts', original: '[]', replacement: '["x"]', why: '' };
  const inLine = { ...lists, line: 'pay([]);' };
  assert.deepEqual(
    [lists, inLine].map((each) => [list, secondList].map((of) => isAccepted(of, source, each))),
    [
      [true, true],
      [false, true],
    ],
  );
});

test('each mutant that was run is counted once: those of a kind that is left out are not', () => {
  const results = [
    result(whole, 'Killed'),
    result(list, 'Timeout'),
    result(part, 'Survived'),
    result(secondList, 'NoCoverage'),
    result(mutant('pay', 'p'), 'RuntimeError'),
    result(mutant('a', ''), 'Ignored'),
  ];
  const { caught, tooLong, accepted, survived, couldNotRun } = outcomeOf(results, [entry], sourceOf);
  assert.deepEqual([caught, tooLong, accepted], [2, 1, 1]);
  assert.deepEqual([survived, couldNotRun], [[results[3]], [results[4]]]);
});

test('an entry is stale when there is no such mutant any more, and needless when a test catches all that it means', () => {
  assert.deepEqual(staleEntries([entry], [whole, part], sourceOf), []);
  assert.deepEqual(staleEntries([entry], [whole], sourceOf), [entry]);
  assert.deepEqual(needlessEntries([entry], [result(part, 'Killed')], sourceOf), [entry]);
  assert.deepEqual(needlessEntries([entry], [result(part, 'Survived')], sourceOf), []);
  // The entry's mutant was not run, so it is unknown whether a test catches it.
  assert.deepEqual(needlessEntries([entry], [result(whole, 'Killed')], sourceOf), []);
});

/** A file of 70 different lines. */
const lines = Array.from({ length: 70 }, (_, line) => `line${line}();`);
const linesOf = () => lines.join('\n');
const wholeLines = (line: number, count = 1): Mutant => {
  const end = { line: line + count - 1, column: lines[line + count - 2]!.length + 1 };
  return {
    fileName: 'a.ts',
    mutatorName: 'Any',
    replacement: '',
    location: { start: { line, column: 1 }, end },
  };
};
/** Mutants at random places of the file of 70 lines. */
const mutants = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 9 })), {
    minLength: 1,
    maxLength: 80,
  })
  .map((places) => places.map(([line, count]) => wholeLines(line, count)));

test('a sample is the same for the same seed, has each mutant once, all that stand within it, and at most five too many', () => {
  fc.assert(
    fc.property(mutants, fc.integer({ min: 1, max: 90 }), fc.nat(1000), (all, least, seed) => {
      const drawn = draw(all, least, seed, linesOf);
      assert.deepEqual(draw(all, least, seed, linesOf), drawn);
      assert.equal(new Set(drawn).size, drawn.length);
      if (least >= all.length) return assert.deepEqual(drawn, all);
      assert.ok(drawn.length <= least + 5);
      for (const outer of drawn)
        for (const inner of all.filter((each) => isWithin(each, outer))) assert.ok(drawn.includes(inner));
    }),
  );
});

test('another seed draws another sample', () => {
  const all = lines.map((_, index) => wholeLines(index + 1));
  const drawnBy = (seed: number) => draw(all, 10, seed, linesOf).map(({ location }) => location.start.line);
  assert.equal(drawnBy(1).length, 10);
  assert.notDeepEqual(drawnBy(1), drawnBy(2));
});

test('a seed draws the same mutants after lines were added and removed elsewhere', () => {
  const textOf = (text: readonly string[]) => () => text.join('\n');
  const drawnFrom = (text: readonly string[]) => {
    const all = text.map((line, index): Mutant => {
      const location = {
        start: { line: index + 1, column: 1 },
        end: { line: index + 1, column: line.length + 1 },
      };
      return { fileName: 'a.ts', mutatorName: 'Any', replacement: '', location };
    });
    return draw(all, 20, 1, textOf(text)).map((drawn) => originalOf(drawn, textOf(text)()));
  };
  const before = drawnFrom(lines);
  const removed = before[3]!;
  const after = drawnFrom(['added();', ...lines.filter((line) => line !== removed)]);
  // At most two of the 20 mutants differ: another one takes the place of the removed line's mutant, and the added line's mutant
  // may take the place of one more.
  assert.ok(before.filter((line) => after.includes(line)).length >= 18);
});

test('the tests of a file are those that load it, the nearest first', () => {
  const imports: Record<string, string[]> = {
    'far.test.ts': ['server.ts'],
    'near.test.ts': ['pay.ts'],
    'also.test.ts': ['pay.ts', 'server.ts'],
    'other.test.ts': ['other.ts'],
    'server.ts': ['pay.ts', 'other.ts'],
    // These two files import each other.
    'pay.ts': ['server.ts'],
  };
  const importsOf = (file: string) => imports[file] ?? [];
  const tests = Object.keys(imports).filter((file) => file.endsWith('.test.ts'));
  assert.deepEqual(testsOf('pay.ts', tests, importsOf), ['also.test.ts', 'near.test.ts', 'far.test.ts']);
  assert.deepEqual(testsOf('other.ts', ['other.test.ts'], importsOf), ['other.test.ts']);
  const beside = ['also.test.ts', 'pay.test.ts'];
  assert.deepEqual(testsOf('pay.ts', beside, importsOf), ['pay.test.ts', 'also.test.ts'], 'by its name');
  assert.deepEqual(testsOf('nobody.ts', tests, importsOf), []);
});

test('a file of the server has the tests of its room, then of the rooms next to it; another file has all', () => {
  const arrows = {
    join: ['session', 'links'],
    checkout: ['join'],
    letters: ['session'],
    session: ['platform'],
  };
  const tests = ['checkout', 'join', 'letters', 'links', 'session'].map(
    (room) => `apps/server/${room}/a.test.ts`,
  );
  const near = (file: string) =>
    nearTests(file, tests, arrows).map((files) => files.map((path) => path.split('/')[2]));
  assert.deepEqual(near('apps/server/join/a.ts'), [['join'], ['checkout', 'links']]);
  assert.deepEqual(near('apps/server/session/a.ts'), [['session'], ['join', 'letters']]);
  assert.deepEqual(near('apps/server/membership/a.ts'), [[], ['checkout', 'join']]);
  assert.deepEqual(nearTests('packages/core/money.ts', tests, arrows), [tests]);
});
