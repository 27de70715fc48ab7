import type { FieldRules } from '#core/crmFields.ts';
import type { Providers } from '../platform/config/providers.ts';
import type { Answer } from '../providers/answer.ts';
import { noBudget } from '../providers/hubspot/budget.ts';
import { hubspotClient } from '../providers/hubspot/client.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from '../providers/hubspot/errors.ts';
import { tellNobody } from '../providers/trouble.ts';

export interface HubspotAccount {
  /** The names of the account's contact properties; null if HubSpot does not know the API version. */
  properties: Answer<ReadonlySet<string> | null>;
  /** Whether a contact may be read. */
  contacts: Answer<unknown>;
  /**
   * The scopes of the token. Null if HubSpot does not list them: it does so for the token of a private app, but not for a service
   * key.
   */
  scopes: Answer<ReadonlySet<string> | null>;
  /** The results of calls that need one scope each and change nothing; null if HubSpot lists the scopes. */
  tried: { write: Answer<unknown>; files: Answer<unknown> } | null;
}

const TIMEOUT_MS = 10_000;

/** Asks HubSpot about the token's account. Changes nothing. Returns HubSpot's errors instead of throwing them. */
export async function askHubspot(settings: Providers['hubspot'], rules: FieldRules): Promise<HubspotAccount> {
  const client = hubspotClient(settings, rules, noBudget, 'joiner', tellNobody);
  const [properties, contacts, scopes] = await Promise.all([
    ask(() => client.getPropertyNames()),
    // It does not matter whether this contact exists.
    ask(() => client.getContact('1', TIMEOUT_MS).then(() => null)),
    ask(() => client.getScopes()),
  ]);
  if ('said' in scopes && scopes.said !== null) return { properties, contacts, scopes, tried: null };
  const [write, files] = await Promise.all([
    ask(() => client.mayWrite()),
    // It does not matter whether this file exists.
    ask(() => client.findFile('/induct/doctor')),
  ]);
  return { properties, contacts, scopes, tried: { write, files } };
}

async function ask<T>(call: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { said: await call() };
  } catch (error) {
    if (error instanceof CrmRefused || error instanceof CrmDenied)
      return { refused: { status: error.status, message: error.message } };
    if (error instanceof CrmUnavailable) return { down: error.message };
    throw error;
  }
}
