import type { Call } from './call.ts';
import { invalid, missing } from './errors.ts';
import type { Params } from './shapes.ts';
import { type ApiObject, type Condition, fieldIs } from './store.ts';

export interface Page {
  object: 'list';
  url: string;
  has_more: boolean;
  data: ApiObject[];
}

/**
 * Returns a page of objects, newest first (https://docs.stripe.com/api/pagination). `limit` is 1 to 100, by default 10. The page
 * begins after the object with the id `starting_after`, or ends before the object with the id `ending_before`.
 */
export function page(call: Call, kind: string, url: string, filters: readonly Condition[]): Page {
  const { limit = 10, starting_after: after, ending_before: before, created } = call.params as PageParams;
  if (limit < 1 || limit > 100) {
    const bound = limit < 1 ? 'greater than or equal to 1' : 'less than or equal to 100';
    throw invalid(`This value must be ${bound}.`, 'limit', 'parameter_invalid_integer');
  }
  if (after !== undefined && before !== undefined) {
    throw invalid('You can only provide one of `starting_after` or `ending_before`.', 'ending_before');
  }
  const where = [...filters, ...createdWithin(created)];
  if (after !== undefined)
    where.push({ sql: 'seq < ?', values: [sequence(call, kind, after, 'starting_after')] });
  if (before !== undefined)
    where.push({ sql: 'seq > ?', values: [sequence(call, kind, before, 'ending_before')] });

  const found = call.store.select(kind, where, limit + 1, before !== undefined);
  const data = found.slice(0, limit);
  if (before !== undefined) data.reverse();
  return { object: 'list', url, has_more: found.length > limit, data };
}

interface PageParams {
  limit?: number;
  starting_after?: string;
  ending_before?: string;
  created?: number | Record<'gt' | 'gte' | 'lt' | 'lte', number>;
}

function sequence(call: Call, kind: string, id: string, param: string): number {
  const found = call.store.find(id)?.object === kind ? call.store.sequenceOf(id) : undefined;
  if (found === undefined) throw missing(kind, id, param);
  return found;
}

function createdWithin(created: PageParams['created']): Condition[] {
  if (created === undefined) return [];
  if (typeof created === 'number') return [fieldIs('created', created)];
  const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;
  return Object.entries(created).map(([name, value]) => ({
    sql: `json_extract(body, '$.created') ${operators[name as 'gt']} ?`,
    values: [value],
  }));
}

/** Returns a condition for each of these parameters in the request: the field of the same name has the parameter's value. */
export function given(params: Params, ...names: string[]): Condition[] {
  return names.flatMap((name) => (params[name] === undefined ? [] : [fieldIs(name, params[name] as string)]));
}
