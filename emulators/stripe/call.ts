import { ApiVersion } from './api-version.ts';
import { invalid, missing } from './errors.ts';
import { newId } from './ids.ts';
import type { Params } from './shapes.ts';
import type { ApiObject, Store } from './store.ts';

/** One request on its way through the emulator, and what its handler may use. */
export interface Call {
  store: Store;
  params: Params;
  /** Named segments of the path. */
  ids: Record<string, string>;
  /** Seconds since 1970, by the emulator's clock. */
  now: number;
  /** Whether the publishable key signed the request: a browser, which sees and may do less. */
  fromBrowser: boolean;
  requestId: string | null;
  idempotencyKey: string | null;
  /** Where a browser reaches this emulator. */
  baseUrl: string;
}

/** The object with this id, or the API's answer that there is none. `param` is the name it was given under. */
export function require<T extends ApiObject>(call: Call, kind: T['object'], id: string, param: string): T {
  const found = call.store.find<T>(id, kind);
  if (!found) throw missing(kind === 'payment_method' ? 'PaymentMethod' : kind, id, param);
  return found;
}

/**
 * Records that something happened, with a copy of the object as it is now. Webhooks leave after the request's
 * transaction. `previous` holds the former values of changed fields, for `*.updated` events.
 */
export function emit(call: Call, type: string, object: ApiObject, previous?: object): void {
  call.store.insert({
    id: newId('evt'),
    object: 'event',
    api_version: ApiVersion,
    created: call.now,
    data: { object, ...(previous && { previous_attributes: previous }) },
    livemode: false,
    pending_webhooks: 0,
    request: { id: call.requestId, idempotency_key: call.idempotencyKey },
    type,
  });
}

/**
 * Merges metadata as the API does: a key given as '' is removed, the whole given as '' is emptied. At most 50
 * keys of 40 characters with values of 500 (https://docs.stripe.com/api/metadata).
 */
export function mergeMetadata(current: Record<string, string>, given: unknown): Record<string, string> {
  if (given === undefined) return current;
  if (given === '') return {};
  const merged = { ...current };
  for (const [key, text] of Object.entries(given as Record<string, unknown>)) {
    const value = String(text);
    if (key.length > 40) {
      throw invalid(
        `Metadata keys can have up to 40 characters, but you passed one of ${key.length}.`,
        'metadata',
      );
    }
    if (value.length > 500) {
      const param = `metadata[${key}]`;
      throw invalid(
        `Metadata values can have up to 500 characters, but you passed one of ${value.length}.`,
        param,
      );
    }
    if (value === '') delete merged[key];
    else merged[key] = value;
  }
  if (Object.keys(merged).length > 50) throw invalid('You can have up to 50 metadata keys.', 'metadata');
  return merged;
}

/** A value that the request gave, with '' as the API's word for unset. */
export function orNull<T>(value: T | '' | undefined): T | null {
  return value === undefined || value === '' ? null : value;
}
