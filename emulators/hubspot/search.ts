import { invalid } from './errors.ts';
import { NUMBER, type Property, timeOf } from './properties.ts';
import type { Row, Store } from './store.ts';

export interface SearchRequest {
  query?: string;
  limit?: number;
  after?: string;
  sorts?: (string | { propertyName: string; direction?: 'ASCENDING' | 'DESCENDING' })[];
  properties?: string[];
  filterGroups?: { filters: Filter[] }[];
}

interface Filter {
  propertyName: string;
  operator: string;
  value?: string;
  values?: string[];
  highValue?: string;
}

/** The maximum number of results that paging can reach (https://developers.hubspot.com/docs/guides/api/crm/search). */
const DEEPEST = 10_000;
const MOST_FILTERS = 18;

type Test = (value: string | undefined) => boolean;

/**
 * Returns a page of the contacts that match the request. The contacts are as they were at `time` (ms), since HubSpot's search
 * index lags behind writes. Groups of filters are joined by OR, the filters of a group by AND. Without `sorts` the oldest
 * contacts come first.
 */
export function search(
  store: Store,
  request: SearchRequest,
  time: number,
): { total: number; rows: Row[]; after?: string } {
  const { limit = 10, filterGroups: groups = [], sorts = [] } = request;
  const offset = Number(request.after ?? 0);
  if (!Number.isInteger(offset) || offset < 0) throw invalid(`Invalid paging cursor: ${request.after}`);
  if (offset + limit > DEEPEST) throw invalid(`The search results can be paged up to ${DEEPEST} only.`);
  if (groups.reduce((sum, group) => sum + group.filters.length, 0) > MOST_FILTERS) {
    throw invalid(`A search takes at most ${MOST_FILTERS} filters.`);
  }
  const tests = groups.map((group) =>
    group.filters.map((filter) => [filter.propertyName, testOf(store, filter)] as const),
  );
  if (sorts.length > 1) throw invalid('A search takes one sort.');
  const words = (request.query ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const found = store
    .asOf(time)
    .filter(
      ({ properties }) =>
        (tests.length === 0 ||
          tests.some((group) => group.every(([name, test]) => test(properties[name])))) &&
        words.every((word) => SEARCHED.some((name) => properties[name]?.toLowerCase().includes(word))),
    );
  for (const sort of sorts) found.sort(order(store, sort));
  const rows = found.slice(offset, offset + limit);
  const next = offset + rows.length;
  return { total: found.length, rows, ...(next < found.length && { after: String(next) }) };
}

/** The properties in which a free-text query searches. */
const SEARCHED = ['firstname', 'lastname', 'email', 'phone', 'hs_object_id'];

function testOf(store: Store, filter: Filter): Test {
  const property = store.property(filter.propertyName);
  if (!property)
    throw invalid(`There was a problem with the request: property ${filter.propertyName} does not exist.`);
  const { operator } = filter;
  const one = (): string => {
    if (filter.value === undefined) throw invalid(`The operator ${operator} needs a value.`);
    return filter.value;
  };
  const several = (): string[] => {
    if (!filter.values?.length) throw invalid(`The operator ${operator} needs values.`);
    return filter.values;
  };
  const compared = (against: string) => {
    assertComparable(property, against);
    return (value: string | undefined) =>
      value === undefined ? Number.NaN : compare(property, value, against);
  };

  switch (operator) {
    case 'EQ': {
      const difference = compared(one());
      return (value) => difference(value) === 0;
    }
    case 'NEQ': {
      const difference = compared(one());
      return (value) => difference(value) !== 0;
    }
    case 'GT':
    case 'GTE':
    case 'LT':
    case 'LTE': {
      const difference = compared(one());
      const sign = operator.startsWith('G') ? 1 : -1;
      const orEqual = operator.endsWith('E');
      return (value) => difference(value) * sign > 0 || (orEqual && difference(value) === 0);
    }
    case 'BETWEEN': {
      if (filter.highValue === undefined) throw invalid('The operator BETWEEN needs a highValue.');
      const [low, high] = [compared(one()), compared(filter.highValue)];
      return (value) => low(value) >= 0 && high(value) <= 0;
    }
    case 'IN':
    case 'NOT_IN': {
      const differences = several().map(compared);
      const wanted = operator === 'IN';
      return (value) => differences.some((difference) => difference(value) === 0) === wanted;
    }
    case 'HAS_PROPERTY':
      return (value) => value !== undefined;
    case 'NOT_HAS_PROPERTY':
      return (value) => value === undefined;
    case 'CONTAINS_TOKEN':
    case 'NOT_CONTAINS_TOKEN': {
      const pattern = tokenPattern(one());
      const wanted = operator === 'CONTAINS_TOKEN';
      return (value) => tokens(value ?? '').some((token) => pattern.test(token)) === wanted;
    }
    default:
      throw invalid(`Invalid operator: ${operator}`);
  }
}

/**
 * Throws unless the CRM accepts a filter's value for the property: for a number property a number, for a date or time ISO 8601 or
 * milliseconds, for any other property any text.
 */
function assertComparable({ name, type }: Property, against: string): void {
  const isTime = type === 'date' || type === 'datetime';
  if ((type === 'number' && !NUMBER.test(against)) || (isTime && Number.isNaN(timeOf(against))))
    throw invalid(`There was a problem with the request: ${against} is not a valid value of ${name}.`);
}

/** Compares text case-insensitively, and numbers and dates by value. */
function compare(property: Property, value: string, against: string): number {
  if (property.type === 'number') return Number(value) - Number(against);
  if (property.type === 'date' || property.type === 'datetime') return timeOf(value) - timeOf(against);
  const [left, right] = [value.toLowerCase(), against.toLowerCase()];
  return left < right ? -1 : left > right ? 1 : 0;
}

function tokens(value: string): string[] {
  return [value, ...value.split(/[^\p{L}\p{N}]+/u)].filter(Boolean).map((token) => token.toLowerCase());
}

function tokenPattern(value: string): RegExp {
  const escaped = value.toLowerCase().replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*')}$`, 'u');
}

function order(store: Store, sort: NonNullable<SearchRequest['sorts']>[number]): (a: Row, b: Row) => number {
  const named = typeof sort === 'string';
  const descending = named ? sort.startsWith('-') : sort.direction === 'DESCENDING';
  const name = named ? sort.replace(/^-/, '') : sort.propertyName;
  const property = store.property(name);
  if (!property) throw invalid(`There was a problem with the request: property ${name} does not exist.`);
  return (a, b) => {
    const [left, right] = [a.properties[name], b.properties[name]];
    if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? 1 : -1;
    return compare(property, left, right) * (descending ? -1 : 1);
  };
}
