import type { Mutant, Place } from './mutants.ts';

/** A part of a source: where it begins and ends, the end not included. */
interface Span {
  start: number;
  end: number;
}

/** The pieces of text of one `sql` template. Between two of them stands an expression of the program (`${…}`). */
export type Template = readonly Span[];

/** Every `sql` template within a node of Babel's syntax tree, those within other templates too. */
export function templatesIn(node: unknown): Template[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(templatesIn);
  const { type, tag, quasi } = node as Partial<TaggedTemplate>;
  return type === 'TaggedTemplateExpression' && tag!.name === 'sql' ? [quasi!.quasis, ...inner] : inner;
}

interface TaggedTemplate {
  type: string;
  tag: { name?: string };
  quasi: { quasis: Span[] };
}

/** Words that end a condition or a key of an order, where they stand in no parentheses. */
const stops = new Set(
  'and or where on join left right inner cross group having order limit offset window for union except intersect returning from set as when then else nulls'.split(
    ' ',
  ),
);
const locks = /\bfor (?:no key update|update|key share|share)(?: of \w+)?(?: skip locked)?|\bskip locked/g;

/** The small faults of a template: a condition that always holds, an order turned round, a lock that is not taken. */
export function sqlMutants(fileName: string, source: string, template: Template): Mutant[] {
  const text = masked(source, template);
  const mutants: Mutant[] = [];
  const add = (mutatorName: string, start: number, end: number, replacement: string) => {
    const from = template[0]!.start + start;
    const location = { start: placeOf(source, from), end: placeOf(source, from + end - start) };
    mutants.push({ fileName, mutatorName, replacement, location });
  };
  for (const match of text.matchAll(/(?<!\bdistinct )\b(?:where|and|on) +(?! |conflict\b|true\b)/g)) {
    if (match[0].startsWith('and') && isOfBetween(text.slice(0, match.index))) continue;
    const start = match.index + match[0].length;
    const end = endOf(text, start);
    if (end > start) add('SqlCondition', start, end, 'true');
  }
  for (const match of text.matchAll(/\border by +(?! )/g)) {
    const start = match.index + match[0].length;
    const end = endOf(text, start);
    const key = source.slice(template[0]!.start + start, template[0]!.start + end);
    add('SqlOrder', start, end, / desc$/.test(key) ? key.replace(/ desc$/, ' asc') : `${key} desc`);
  }
  for (const match of text.matchAll(locks)) add('SqlLock', match.index, match.index + match[0].length, '');
  return mutants;
}

/** The text of a template, of the same length, in which only words of SQL are words: no text, comment, name or expression is. */
function masked(source: string, template: Template): string {
  const pieces = template.map(({ start, end }, index) => {
    const expression = index === 0 ? '' : '$'.repeat(start - template[index - 1]!.end);
    return expression + source.slice(start, end);
  });
  return pieces
    .join('')
    .replaceAll(/'[^']*'|"[^"]*"/g, (quoted) => '$'.repeat(quoted.length))
    .replaceAll(/--.*|\s/g, (blank) => ' '.repeat(blank.length));
}

/** Where a condition or a key of an order ends that begins at an index: before what it is followed by, and before spaces. */
function endOf(text: string, start: number): number {
  let depth = 0;
  let before = '';
  let end = start;
  for (const { 0: token, index } of text.slice(start).matchAll(/[\w.]+|\S/g)) {
    if (
      depth === 0 &&
      (/^(?:[),;\]]|end)$/.test(token) || isStop(token, text.slice(start, start + index), before))
    )
      break;
    if (/^(?:[([]|case)$/.test(token)) depth++;
    if (/^(?:[)\]]|end)$/.test(token)) depth--;
    before = token;
    end = start + index + token.length;
  }
  return end;
}

function isStop(token: string, text: string, before: string): boolean {
  if (token === 'and') return !isOfBetween(text);
  return stops.has(token) && !(token === 'from' && before === 'distinct');
}

/** Whether the `and` after a text is the second half of `between … and …`. */
function isOfBetween(text: string): boolean {
  return /\bbetween\b(?:(?!\b(?:and|or|where|on)\b).)*$/.test(text);
}

/** The place of an index in a source: its line and column from 1. */
export function placeOf(source: string, index: number): Place['start'] {
  const lines = source.slice(0, index).split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** The source with a mutant in it. */
export function withMutant(source: string, { location: { start, end }, replacement }: Mutant): string {
  const indexOf = ({ line, column }: Place['start']) =>
    source
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length +
    (line > 1 ? 1 : 0) +
    column -
    1;
  return source.slice(0, indexOf(start)) + replacement + source.slice(indexOf(end));
}
