import type { Call } from './call.ts';
import { invalid } from './errors.ts';
import { isExpandable } from './shapes.ts';
import { type ApiObject, fieldIs } from './store.ts';

/** The maximum number of levels that a path may expand, not counting `data` (https://docs.stripe.com/api/expanding_objects). */
const DEEPEST = 4;

/**
 * Replaces the ids at each path, such as `latest_charge` or `data.latest_charge.payment_method`, by the objects with these ids.
 */
export function expand<T extends object>(call: Call, answer: T, paths: readonly string[]): T {
  for (const path of paths) {
    const segments = path.split('.');
    if (segments.filter((segment) => segment !== 'data').length > DEEPEST) {
      throw invalid(`You cannot expand more than ${DEEPEST} levels of a property (path: ${path})`, 'expand');
    }
    expandPath(call, answer, segments, path);
  }
  return answer;
}

/**
 * Expands one path. A field that the target lacks is an error, except with `isOfAnyKind`. The target is then of one of several
 * kinds (such as the `source` of a balance transaction), not all of which have the field.
 */
function expandPath(
  call: Call,
  target: unknown,
  segments: readonly string[],
  path: string,
  isOfAnyKind = false,
): void {
  const [name, ...rest] = segments;
  if (name === undefined || target === null || typeof target !== 'object') return;
  const object = target as Record<string, unknown>;
  if (name === 'data' && Array.isArray(object.data)) {
    for (const item of object.data) expandPath(call, item, rest, path);
    return;
  }
  if (name === 'refunds' && object.object === 'charge') {
    object.refunds ??= refundsOf(call, object.id as string);
  } else if (!isExpandable(object.object as string, name)) {
    if (isOfAnyKind) return;
    throw invalid(`This property cannot be expanded (${path}).`, 'expand');
  } else if (typeof object[name] === 'string') {
    object[name] = call.store.find(object[name]) ?? object[name];
  }
  expandPath(call, object[name], rest, path, object.object === 'balance_transaction' && name === 'source');
}

function refundsOf(call: Call, charge: string): object {
  const data: ApiObject[] = call.store.select('refund', [fieldIs('charge', charge)], 10);
  return { object: 'list', data, has_more: false, url: `/v1/charges/${charge}/refunds` };
}
