import type { Providers } from '../config.ts';
import { INVITATION_CODE, type Properties, readProperties } from './properties.ts';

/** A contact as HubSpot returns it; `id` is its record id, digits. */
export interface CrmContact {
  id: string;
  properties: Properties;
}

/** HubSpot cannot take the call now: limited (429), down, or slower than it may be. Try again, not before `retryAfterMs`. */
export class CrmUnavailable extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** HubSpot will not take this record as it is. Its reason is for staff. */
export class CrmRefused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface HubspotClient {
  /** Null when HubSpot does not know the id. */
  getContact(id: string, timeoutMs: number): Promise<CrmContact | null>;
  findByCode(code: string, timeoutMs: number): Promise<CrmContact | null>;
  findByEmail(email: string): Promise<CrmContact | null>;
  /** Throws {@link CrmRefused} with 409 when the email is taken. */
  createContact(properties: Record<string, string>): Promise<CrmContact>;
  updateContact(id: string, properties: Record<string, string>): Promise<CrmContact>;
  /** At most 100. Answers the ids that were updated; the others were refused. */
  updateContacts(
    updates: readonly { id: string; properties: Record<string, string> }[],
  ): Promise<Set<string>>;
  /** Names of every contact property of the account; null when HubSpot does not know this API version. */
  getPropertyNames(): Promise<Set<string> | null>;
  /** What the token may do; null when HubSpot does not know it as a private app's. */
  getScopes(): Promise<Set<string> | null>;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** HubSpot's contacts API (dated version) over fetch, with a time limit on every call. The caller decides about retries. */
export function hubspotClient({ url, accessToken, apiVersion }: Providers['hubspot']): HubspotClient {
  const base = `${url}/crm/objects/${apiVersion}/contacts`;

  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    under = base,
  ): Promise<T | null> {
    const signal = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let answer: string;
    try {
      response = await fetch(under + path, {
        method,
        headers: {
          authorization: `Bearer ${accessToken}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal,
      });
      answer = await response.text();
    } catch (error) {
      throw new CrmUnavailable(error instanceof Error ? error.message : String(error));
    }
    if (response.ok) return JSON.parse(answer) as T;
    if (response.status === 404) return null;
    if (response.status === 429 || response.status >= 500) {
      const seconds = Number(response.headers.get('retry-after') ?? '1');
      throw new CrmUnavailable(
        `HubSpot answered ${response.status}`,
        (Number.isFinite(seconds) ? seconds : 1) * 1000,
      );
    }
    throw new CrmRefused(response.status, messageOf(answer));
  }

  async function search(propertyName: string, value: string, timeoutMs?: number): Promise<CrmContact | null> {
    const found = await call<{ results: CrmContact[] }>(
      'POST',
      '/search',
      {
        filterGroups: [{ filters: [{ propertyName, operator: 'EQ', value }] }],
        properties: readProperties,
        limit: 1,
      },
      timeoutMs,
    );
    return found?.results[0] ?? null;
  }

  const query = new URLSearchParams({ properties: readProperties.join(',') });
  return {
    getContact: (id, timeoutMs) =>
      call<CrmContact>('GET', `/${encodeURIComponent(id)}?${query}`, undefined, timeoutMs),
    findByCode: (code, timeoutMs) => search(INVITATION_CODE, code, timeoutMs),
    // By the unique property, not by search: search lags behind writes.
    findByEmail: (email) =>
      call<CrmContact>('GET', `/${encodeURIComponent(email)}?idProperty=email&${query}`),
    async createContact(properties) {
      return (await call<CrmContact>('POST', '', { properties }))!;
    },
    async updateContact(id, properties) {
      const updated = await call<CrmContact>('PATCH', `/${encodeURIComponent(id)}`, { properties });
      if (!updated) throw new CrmRefused(404, `HubSpot does not know contact ${id}.`);
      return updated;
    },
    async updateContacts(updates) {
      const answer = await call<{ results: CrmContact[] }>('POST', '/batch/update', { inputs: updates });
      return new Set(answer?.results.map(({ id }) => id) ?? []);
    },
    async getPropertyNames() {
      const properties = `${url}/crm/properties/${apiVersion}/contacts`;
      const answer = await call<{ results: { name: string }[] }>('GET', '', undefined, undefined, properties);
      return answer && new Set(answer.results.map(({ name }) => name));
    },
    async getScopes() {
      // The call that tells a private app's scopes has no dated version.
      const apps = `${url}/oauth/v2/private-apps`;
      const body = { tokenKey: accessToken };
      const answer = await call<{ scopes: string[] }>(
        'POST',
        '/get/access-token-info',
        body,
        undefined,
        apps,
      );
      return answer && new Set(answer.scopes);
    },
  };
}

function messageOf(answer: string): string {
  try {
    return String((JSON.parse(answer) as { message?: unknown }).message ?? 'HubSpot refused the record.');
  } catch {
    return 'HubSpot refused the record.';
  }
}
