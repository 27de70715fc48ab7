import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { tellStaff } from '../notices/tellStaff.ts';
import type { Database } from '../platform/database/client.ts';
import { HUBSPOT_ACCOUNT, sharedValue } from '../platform/database/secrets.ts';
import type { HubspotClient } from './hubspot/client.ts';
import { OtherAccount } from './hubspot/errors.ts';

/**
 * Throws {@link OtherAccount}, and tells staff, if the token is of another HubSpot account than this database's contacts, which would all
 * seem to be deleted there. To be called before anything is done because a contact is missing, and before contacts are created. The
 * first call stores the account's id. If HubSpot does not tell the account, nothing is checked.
 */
export async function requireSameAccount({
  database,
  hubspot,
}: Pick<Deps, 'database' | 'hubspot'>): Promise<void> {
  const { kept, present } = await accountsOf(database, hubspot);
  if (present === null || kept === present) return;
  const message = `HUBSPOT_ACCESS_TOKEN is of the HubSpot account ${present}, and the contacts in this database are of account ${kept}. Nothing is done with contacts that are missing there, and none is created. Set the token of account ${kept}, and restart the servers. If the society has moved to account ${present}: npm run operator -- contacts account ${present}`;
  await tellStaff(database, null, 'other_hubspot_account', message);
  throw new OtherAccount(message);
}

/** The ids of the HubSpot account of this database's contacts, and of the account of the token; null if HubSpot does not tell. */
export async function accountsOf(
  database: Database,
  hubspot: HubspotClient,
): Promise<{ kept: string; present: string } | { kept: null; present: null }> {
  const present = await hubspot.getAccount();
  if (present === null) return { kept: null, present };
  return { kept: await sharedValue(database, HUBSPOT_ACCOUNT, () => present), present };
}

/** Makes another HubSpot account the one of this database's contacts. Contacts that are not there will count as deleted. */
export async function changeAccount(database: Database, account: string): Promise<void> {
  await sql`update secret set value = ${account} where name = ${HUBSPOT_ACCOUNT}`.execute(database);
}
