import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originalOf } from './mutants.ts';
import { sqlMutants, type Template, withMutant } from './sql.ts';

/** Returns a template as Babel finds it: the pieces of text between the expressions. */
function templateOf(source: string): Template {
  const expressions = [...source.matchAll(/\$\{[^}]*\}/g)];
  const starts = [source.indexOf('`') + 1, ...expressions.map(({ 0: text, index }) => index + text.length)];
  const ends = [...expressions.map(({ index }) => index), source.lastIndexOf('`')];
  return starts.map((start, index) => ({ start, end: ends[index]! }));
}
/** Returns each mutant as a pair: the replaced text and its replacement. */
function faultsIn(source: string): string[][] {
  return sqlMutants('a.ts', source, templateOf(source)).map((mutant) => [
    originalOf(mutant, source),
    mutant.replacement,
  ]);
}
const conditionsIn = (source: string) => faultsIn(source).map(([original]) => original);

test('every condition is made true, with what stands within it', () => {
  const source = `const rows = sql\`
    select count(*) filter (where is_held) from membership join person on person.id = person_id
    where (a or b) and exists (select from payment where kind = 'a and b') and \${isOpen}
    order by 1\`;`;
  assert.deepEqual(conditionsIn(source), [
    'is_held',
    'person.id = person_id',
    '(a or b)',
    "exists (select from payment where kind = 'a and b')",
    "kind = 'a and b'",
    `\${isOpen}`,
    '1',
  ]);
});

test('a condition ends where it ends', () => {
  for (const [rest, condition] of [
    ['a between 1 and 2 and b', 'a between 1 and 2'],
    ['a is distinct from b limit 1', 'a is distinct from b'],
    ["case when a and b then c else d end = 'x' or e", "case when a and b then c else d end = 'x'"],
    ['a and b as both, c', 'a'],
    ['a = 1 -- and why\n returning b', 'a = 1'],
    ['"order" = 1 for update', '"order" = 1'],
  ] as const)
    assert.equal(conditionsIn(`sql\`where ${rest}\``)[0], condition, rest);
});

test('what is no condition is left alone', () => {
  const source = 'sql`select distinct on (a) a from b left join lateral (select c) d on true where true and`';
  assert.deepEqual(faultsIn(source), []);
  assert.deepEqual(faultsIn('sql`insert into a (b) values (1) on conflict (b) do nothing`'), []);
});

test('an order is turned round, and a lock is not taken', () => {
  assert.deepEqual(faultsIn('sql`order by at desc, id limit 1 for no key update of payment skip locked`'), [
    ['at desc', 'at asc'],
    ['for no key update of payment skip locked', ''],
  ]);
  assert.deepEqual(faultsIn('sql`array_agg(a order by at nulls last) for key share`'), [
    ['at', 'at desc'],
    ['for key share', ''],
  ]);
});

test('a mutant is put into the source in its place', () => {
  const source = 'const a = 1;\nsql`select 1\n  where a\n    = 1 and b`;\n';
  const [first, second] = sqlMutants('a.ts', source, templateOf(source));
  assert.equal(withMutant(source, first!), 'const a = 1;\nsql`select 1\n  where true and b`;\n');
  assert.equal(withMutant(source, second!), 'const a = 1;\nsql`select 1\n  where a\n    = 1 and true`;\n');
});
