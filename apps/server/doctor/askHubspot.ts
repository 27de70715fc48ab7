import type { FieldRules } from '#core/crmFields.ts';
import type { Providers } from '../platform/config/providers.ts';
import type { Answer } from '../providers/answer.ts';
import { noBudget } from '../providers/hubspot/budget.ts';
import { hubspotClient } from '../providers/hubspot/client.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from '../providers/hubspot/errors.ts';
import { tellNobody } from '../providers/trouble.ts';

export interface HubspotAccount {
  /** Names of the account's contact properties; null when HubSpot does not know the API version. */
  properties: Answer<ReadonlySet<string> | null>;
  /** Whether a contact may be read. */
  contacts: Answer<unknown>;
  /** Null when HubSpot does not tell them for this kind of token: it does of a private app's, and not of a service key. */
  scopes: Answer<ReadonlySet<string> | null>;
  /** What came of a harmless call that wants each scope; null where the scopes are told. */
  tried: { write: Answer<unknown>; files: Answer<unknown> } | null;
}

const TIMEOUT_MS = 10_000;

/** Asks about the account behind the token. Changes nothing. Never throws for what HubSpot answers. */
export async function askHubspot(settings: Providers['hubspot'], rules: FieldRules): Promise<HubspotAccount> {
  const client = hubspotClient(settings, rules, noBudget, 'joiner', tellNobody);
  const [properties, contacts, scopes] = await Promise.all([
    ask(() => client.getPropertyNames()),
    // Whether there is such a contact does not matter.
    ask(() => client.getContact('1', TIMEOUT_MS).then(() => null)),
    ask(() => client.getScopes()),
  ]);
  if ('said' in scopes && scopes.said !== null) return { properties, contacts, scopes, tried: null };
  const [write, files] = await Promise.all([
    ask(() => client.mayWrite()),
    // Whether there is such a file does not matter.
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
