import type { FieldRules } from '#core/crmFields.ts';
import { noBudget } from '../../crm/hubspot/budget.ts';
import { hubspotClient } from '../../crm/hubspot/client.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from '../../crm/hubspot/errors.ts';
import type { Providers } from '../../platform/config/providers.ts';
import type { Answer } from '../../providers/answer.ts';
import { reportNothing } from '../../providers/trouble.ts';

export interface HubspotAccount {
  /** The names of the account's contact properties; null if HubSpot does not support the API version. */
  properties: Answer<ReadonlySet<string> | null>;
  /** The result of reading a contact. */
  contacts: Answer<unknown>;
  /** The scopes of the token. HubSpot returns them only for the token of a private app; null for a service key. */
  scopes: Answer<ReadonlySet<string> | null>;
  /**
   * The results of two calls that need one scope each and change nothing. Null if HubSpot returned the scopes, since then the
   * calls are not needed.
   */
  tried: { write: Answer<unknown>; files: Answer<unknown> } | null;
  /** The id of the token's account; null if HubSpot does not return it. */
  account: Answer<string | null>;
}

const TIMEOUT_MS = 10_000;

/** Makes calls to HubSpot that show what the token may do. Changes nothing. An error of HubSpot is returned, not thrown. */
export async function askHubspot(settings: Providers['hubspot'], rules: FieldRules): Promise<HubspotAccount> {
  const client = hubspotClient(settings, rules, noBudget, 'joiner', reportNothing);
  const [properties, contacts, scopes, account] = await Promise.all([
    ask(() => client.getPropertyNames()),
    // Shows whether the token may read contacts. The contact need not exist.
    ask(() => client.getContact('1', TIMEOUT_MS).then(() => null)),
    ask(() => client.getScopes()),
    ask(() => client.getAccount()),
  ]);
  if ('said' in scopes && scopes.said !== null) return { properties, contacts, scopes, account, tried: null };
  const [write, files] = await Promise.all([
    ask(() => client.mayWrite()),
    // Shows whether the token may use files. The file need not exist.
    ask(() => client.findFile('/induct/doctor')),
  ]);
  return { properties, contacts, scopes, account, tried: { write, files } };
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
