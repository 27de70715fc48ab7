import type Stripe from 'stripe';
import { type Call, require } from './call.ts';
import { given, page } from './lists.ts';
import type { ApiObject, Condition } from './store.ts';

export type Event = Stripe.Event & ApiObject;

export function retrieveEvent(call: Call): ApiObject {
  return withPending(call, require(call, 'event', call.ids.id!, 'id'));
}

/** Events, newest first, by `type` (a last `*` stands for any rest), `types[]` or whether they were delivered. */
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

/** The event with the number of webhooks that still wait to be delivered. */
function withPending(call: Call, event: ApiObject): ApiObject {
  const row = call.store.database
    .prepare("select count(*) as count from delivery where event = ? and state in ('waiting', 'held')")
    .get(event.id);
  return { ...event, pending_webhooks: row!.count as number };
}
