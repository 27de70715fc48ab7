/** The effect of one statement of a migration on one table. */
export interface Effect {
  table: string;
  /** Whether the table stays locked against reads and writes from this statement to the end of the migration. */
  isExclusive: boolean;
  /** The part of the statement whose duration grows with the table's rows; null if there is none. */
  slow: string | null;
}

/**
 * Matches comments, string literals and dollar-quoted bodies. Semicolons and keywords in these must not be taken for SQL syntax.
 */
const opaque = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$/g;
const name = String.raw`(?:if (?:not )?exists )?(?:only )?"?([\w.]+)"?`;

/**
 * Returns the statements of an SQL text, each on one line, without comments. String literals and dollar-quoted bodies become ''.
 */
export function statementsOf(sql: string): string[] {
  return sql
    .replace(opaque, (text) => (text.startsWith('--') || text.startsWith('/*') ? ' ' : "''"))
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter(Boolean);
}

/** Returns the description of an SQL text: its leading comment or, without one, the beginnings of its statements. */
export function wordsOf(sql: string): string {
  const [comment = ''] = /^(?:--[^\n]*(?:\n|$))*/.exec(sql.trimStart()) ?? [];
  const lines = comment.split('\n').filter((line) => !line.startsWith('-- oldest version:'));
  const words = lines.map((line) => line.replace(/^--\s*/, '')).join(' ');
  return words.trim() || statementsOf(sql).map(beginning).join('; ');
}

function beginning(statement: string): string {
  return statement.length > 60 ? `${statement.slice(0, 60).trimEnd()} …` : statement;
}

/**
 * Returns the effects of a migration's statements on existing tables, by simple rules that follow PostgreSQL's documentation (ALTER
 * TABLE, "Notes"; CREATE INDEX; 13.3 "Explicit Locking"). `unread` is the number of `do $$ … $$` blocks, whose effect only a person
 * can judge.
 */
export function effectsOf(sql: string): { effects: Effect[]; unread: number } {
  const effects: Effect[] = [];
  const created = new Set<string>();
  let unread = 0;
  for (const statement of statementsOf(sql).map((text) => text.toLowerCase())) {
    if (/^do\b/.test(statement)) unread++;
    const made = new RegExp(`^create (?:unlogged )?table ${name}`).exec(statement);
    if (made) created.add(made[1]!);
    effects.push(...effectsOfOne(statement).filter(({ table }) => !created.has(table)));
  }
  return { effects, unread };
}

function effectsOfOne(statement: string): Effect[] {
  const match = (pattern: string) => new RegExp(pattern).exec(statement)?.[1];
  const altered = match(`^alter table ${name}`);
  if (altered) return [{ table: altered, isExclusive: true, slow: slowChange(statement) }];
  const dropped = match(`^drop table ${name}`) ?? match(`^truncate (?:table )?${name}`);
  if (dropped) return [{ table: dropped, isExclusive: true, slow: null }];
  const triggered = match(`^create (?:or replace )?trigger .*? on ${name}`);
  if (triggered) return [{ table: triggered, isExclusive: false, slow: null }];
  const indexed = match(`^create (?:unique )?index (?!concurrently).*?\\bon ${name}`);
  if (indexed)
    return [{ table: indexed, isExclusive: false, slow: 'an index is built, and nobody writes meanwhile' }];
  if (!/^(update|delete|with|insert)\b/.test(statement)) return [];
  const changed = statement.matchAll(new RegExp(`(?<!do )(?<!for )\\b(?:update|delete from) ${name}`, 'g'));
  return [...changed].map(([text, table]) => ({
    table: table!,
    isExclusive: false,
    slow: `rows are ${text.startsWith('update') ? 'changed' : 'deleted'}, and nobody else changes those meanwhile`,
  }));
}

/** Returns the part of an ALTER TABLE whose duration grows with the table's rows; null if there is none. */
function slowChange(statement: string): string | null {
  const rewrites =
    /\balter (column )?\S+ (set data )?type\b|\bgenerated (always|by default) as\b|\bset (un)?logged\b|\bserial\b|\bdefault \(?(gen_random_uuid|random|clock_timestamp|nextval)\b/;
  if (rewrites.test(statement)) return 'every row is written anew';
  if (/\b(unique|primary key)\b(?! using index)/.test(statement)) return 'an index is built';
  if (
    /\bset not null\b|\bcheck \(|\breferences\b|\bvalidate constraint\b/.test(statement) &&
    !/\bnot valid\b/.test(statement)
  )
    return 'every row is read';
  return null;
}
