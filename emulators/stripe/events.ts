import type Stripe from 'stripe';
import { type Call, require } from './call.ts';
import { invalid } from './errors.ts';
import { given, page } from './lists.ts';
import { isEventType } from './shapes.ts';
import type { ApiObject, Condition } from './store.ts';

/** The maximum number of event types in the filter of a list (https://docs.stripe.com/api/events/list). */
const MOST_TYPES = 20;

export type Event = Stripe.Event & ApiObject;

export function retrieveEvent(call: Call): ApiObject {
  return withPending(call, require(call, 'event', call.ids.id!, 'id'));
}

/**
 * Lists events, newest first. They can be filtered by `type` (a `*` at its end matches any rest), by `types[]`, and by whether
 * they were delivered.
 */
export function listEvents(call: Call): object {
  const {
    type,
    types,
    delivery_success: delivered,
  } = call.params as {
    type?: string;
    types?: string[];
    delivery_success?: boolean;
  };
  checkTypes(type, types);
  const filters: Condition[] = [];
  if (type?.endsWith('*')) {
    filters.push({ sql: "json_extract(body, '$.type') like ?", values: [`${type.slice(0, -1)}%`] });
  } else filters.push(...given(call.params, 'type'));
  if (types) {
    const places = types.map(() => '?').join(', ');
    filters.push({ sql: `json_extract(body, '$.type') in (${places})`, values: types });
  }
  if (delivered !== undefined) {
    const undelivered = "exists (select 1 from delivery where event = object.id and state <> 'delivered')";
    filters.push({ sql: delivered ? `not ${undelivered}` : undelivered, values: [] });
  }
  const found = page(call, 'event', '/v1/events', filters);
  return { ...found, data: found.data.map((event) => withPending(call, event)) };
}

function checkTypes(type: string | undefined, types: readonly string[] | undefined): void {
  if (type !== undefined && types !== undefined)
    throw invalid('You may only specify one of these parameters: type, types.', 'type');
  if (types !== undefined && types.length > MOST_TYPES)
    throw invalid(`You may pass up to ${MOST_TYPES} event types, but you passed ${types.length}.`, 'types');
  const unknown = types?.find((one) => !isEventType(one));
  if (unknown !== undefined) throw invalid(`Invalid event type: ${unknown}`, 'types');
  if (type !== undefined && !type.endsWith('*') && !isEventType(type))
    throw invalid(`Invalid event type: ${type}`, 'type');
}

/** Returns the event with the number of its webhooks that are not delivered yet. */
function withPending(call: Call, event: ApiObject): ApiObject {
  const row = call.store.database
    .prepare("select count(*) as count from delivery where event = ? and state in ('waiting', 'held')")
    .get(event.id);
  return { ...event, pending_webhooks: row!.count as number };
}
