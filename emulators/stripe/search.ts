import type { Call } from './call.ts';
import { invalid, notEmulated } from './errors.ts';
import type { Params } from './shapes.ts';
import type { ApiObject, Condition } from './store.ts';

/** Fields that the API can search (https://docs.stripe.com/search), in addition to `metadata[…]`. */
const FIELDS: Record<string, readonly string[]> = {
  customer: ['created', 'email', 'name', 'phone'],
  payment_intent: ['amount', 'created', 'currency', 'customer', 'status'],
};

/**
 * Returns a page of search results. A query has clauses such as `field:"value"`, `field>number` and `metadata["key"]:"value"`,
 * each optionally negated by a leading `-`. The clauses are joined either all by AND or all by OR. `~` (substring) works on text
 * fields.
 */
export function search(call: Call, kind: string, url: string): object {
  const { query, limit = 10, page } = call.params as { query: string; limit?: number; page?: string };
  const before = page === undefined ? [] : [{ sql: 'seq < ?', values: [Number(page)] }];
  const found = call.store.select(kind, [condition(kind, query), ...before], limit + 1);
  const data = found.slice(0, limit);
  const hasMore = found.length > limit;
  return {
    object: 'search_result',
    url,
    has_more: hasMore,
    data,
    next_page: hasMore ? String(call.store.sequenceOf(data.at(-1)!.id)) : null,
  } satisfies Params & { data: ApiObject[] };
}

const CLAUSE =
  /^(-?)([a-z_]+)(?:\[(["'])(.*?)\3\])?(:|~|>=|<=|>|<)(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+)|(null))$/;

function condition(kind: string, query: string): Condition {
  const words = query.trim().match(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+/g) ?? [];
  const joins = new Set(words.filter((word) => /^(and|or)$/i.test(word)).map((word) => word.toLowerCase()));
  if (joins.size > 1)
    throw invalid('The search query must join its clauses by AND or by OR, not both.', 'query');
  const clauses = words.filter((word) => !/^(and|or)$/i.test(word)).map((word) => clause(kind, word));
  if (clauses.length === 0) throw invalid('The search query is empty.', 'query');
  const join = joins.has('or') ? ' or ' : ' and ';
  return {
    sql: `(${clauses.map((one) => one.sql).join(join)})`,
    values: clauses.flatMap((one) => one.values),
  };
}

function clause(kind: string, word: string): Condition {
  const match = CLAUSE.exec(word);
  if (!match) throw invalid(`The search query could not be parsed at: ${word}`, 'query');
  const [, not, field, , key, operator, double, single, number, nothing] = match;
  if (field === 'metadata' ? key === undefined : !FIELDS[kind]?.includes(field!)) {
    throw invalid(`Field \`${field}\` is an unsupported search field for resource \`${kind}s\`.`, 'query');
  }
  const path = field === 'metadata' ? `$.metadata.${JSON.stringify(key)}` : `$.${field}`;
  const column = 'json_extract(body, ?)';
  const wrap = (sql: string, ...values: (string | number)[]): Condition => ({
    sql: not ? `not coalesce((${sql}), 0)` : `(${sql})`,
    values: [path, ...values],
  });
  if (nothing) return wrap(`${column} is null`);
  const value = number === undefined ? (double ?? single!).replace(/\\(.)/g, '$1') : Number(number);
  if (operator === ':') {
    return typeof value === 'string'
      ? wrap(`lower(${column}) = lower(?)`, value)
      : wrap(`${column} = ?`, value);
  }
  if (operator === '~') {
    if (typeof value !== 'string') throw invalid('Substring search takes text.', 'query');
    return wrap(`instr(lower(${column}), lower(?)) > 0`, value);
  }
  if (typeof value === 'string') throw notEmulated('comparisons of text in a search');
  return wrap(`${column} ${operator} ?`, value);
}
