import { ApiVersion } from './api-version.ts';
import { invalid, missing } from './errors.ts';
import { newId } from './ids.ts';
import type { Params } from './shapes.ts';
import type { ApiObject, Store } from './store.ts';

/** One request to the emulator, with everything that its handler may use. */
export interface Call {
  store: Store;
  params: Params;
  /** The named segments of the path. */
  ids: Record<string, string>;
  /** Seconds since 1970, by the emulator's clock. */
  now: number;
  /**
   * Whether a browser made the request, with the publishable key. Such a request may make only some calls, and sees fewer fields.
   */
  fromBrowser: boolean;
  requestId: string | null;
  idempotencyKey: string | null;
  /** The URL at which a browser reaches this emulator. */
  baseUrl: string;
}

/** Returns the object with this id, or throws the API's error for a missing object. `param` is the parameter that had the id. */
export function require<T extends ApiObject>(call: Call, kind: T['object'], id: string, param: string): T {
  const found = call.store.find<T>(id, kind);
  if (!found) throw missing(kind === 'payment_method' ? 'PaymentMethod' : kind, id, param);
  return found;
}

/**
 * Records an event with a copy of the object as it is now. Its webhooks are sent after the request's transaction. For `*.updated`
 * events, `previous` has the former values of the fields that have changed.
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
 * Merges metadata as the API does: '' as a value removes its key, '' in place of the metadata removes all keys. Allows at most 50
 * keys of 40 characters, and values of 500 characters (https://docs.stripe.com/api/metadata).
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

/** Returns a value of the request; null if it is absent or '', since the API unsets a value for which it gets ''. */
export function orNull<T>(value: T | '' | undefined): T | null {
  return value === undefined || value === '' ? null : value;
}
