import type { Providers } from '../config.ts';
import { CrmRefused, CrmUnavailable, hubspotClient } from '../hubspot/client.ts';
import { fromJoin, readProperties } from '../hubspot/properties.ts';
import type { Answer } from './answer.ts';

export interface HubspotAccount {
  /** Names of the account's contact properties; null when HubSpot does not know the API version. */
  properties: Answer<ReadonlySet<string> | null>;
  /** Whether a contact may be read. */
  contacts: Answer<unknown>;
  /** Null when HubSpot does not tell them for this kind of token. */
  scopes: Answer<ReadonlySet<string> | null>;
}

const TIMEOUT_MS = 10_000;

/** Asks about the account behind the token. Changes nothing. Never throws for what HubSpot answers. */
export async function askHubspot(settings: Providers['hubspot']): Promise<HubspotAccount> {
  const client = hubspotClient(settings);
  const [properties, contacts, scopes] = await Promise.all([
    ask(() => client.getPropertyNames()),
    // Whether there is such a contact does not matter.
    ask(() => client.getContact('1', TIMEOUT_MS).then(() => null)),
    ask(() => client.getScopes()),
  ]);
  return { properties, contacts, scopes };
}

/** Every contact property that the join reads or writes. */
export const neededProperties: readonly string[] = [
  ...new Set([
    ...readProperties,
    // What the join of somebody who gave everything writes.
    ...Object.keys(
      fromJoin({
        details: {
          firstName: 'x',
          middleName: 'x',
          lastName: 'x',
          address1: 'x',
          address2: 'x',
          city: 'x',
          state: 'x',
          zipcode: 'x',
          country: 'x',
          personalEmail: 'x',
          schoolEmail: 'x',
          agreeToPolicies: true,
          highSchoolName: 'x',
          highSchoolGraduationYear: 'x',
          highSchoolGpa: 'x',
        },
        state: 'paid',
        membership: 'x',
        amountCents: 1,
        paidAt: new Date(0),
      }),
    ),
  ]),
];

async function ask<T>(call: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { said: await call() };
  } catch (error) {
    if (error instanceof CrmRefused) return { refused: { status: error.status, message: error.message } };
    if (error instanceof CrmUnavailable) return { down: error.message };
    throw error;
  }
}
