import type { Mutant, Place } from './mutants.ts';

/** A part of a source, by offsets; the end is excluded. */
interface Span {
  start: number;
  end: number;
}

/** The pieces of text of one `sql` template, between its `${…}` expressions. */
export type Template = readonly Span[];

/** Returns every `sql` template within a node of Babel's syntax tree, including templates nested in others. */
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

/** Words that end a condition or a sort key, outside parentheses. */
const stops = new Set(
  'and or where on join left right inner cross group having order limit offset window for union except intersect returning from set as when then else nulls'.split(
    ' ',
  ),
);
const locks = /\bfor (?:no key update|update|key share|share)(?: of \w+)?(?: skip locked)?|\bskip locked/g;

/**
 * Returns the mutants of a template: a condition replaced by `true`, a sort order reversed, a row lock or `skip locked` removed.
 */
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

/**
 * Returns the text of a template with each character at the same offset. Strings, quoted names and expressions are replaced by
 * `$`, and comments by spaces.
 */
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

/** Returns the offset where the condition or sort key that begins at `start` ends, without trailing spaces. */
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

/** Whether an `and` that follows the text belongs to `between … and …`. */
function isOfBetween(text: string): boolean {
  return /\bbetween\b(?:(?!\b(?:and|or|where|on)\b).)*$/.test(text);
}

/** Returns the line and column, from 1, of an offset in a source. */
export function placeOf(source: string, index: number): Place['start'] {
  const lines = source.slice(0, index).split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** Returns the source with a mutant applied. */
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
