import { sql } from 'kysely';
import type { Remedy } from '#core/remedy.ts';
import { endNotices, notifyStaff } from '../letters/notifyStaff.ts';
import type { Database } from '../platform/database/client.ts';
import { HUBSPOT_ACCOUNT, sharedValue } from '../platform/database/secrets.ts';
import type { Deps } from './deps.ts';
import type { HubspotClient } from './hubspot/client.ts';
import { OtherAccount } from './hubspot/errors.ts';

/**
 * Throws {@link OtherAccount}, and writes a notice, if the token belongs to another HubSpot account than this database's
 * contacts, since these would all seem to be deleted there. To be called before anything is done about a missing contact, and
 * before contacts are created. The first call stores the account's id. If HubSpot does not return the account, nothing is
 * checked.
 */
export async function requireSameAccount({
  database,
  hubspot,
}: Pick<Deps, 'database' | 'hubspot'>): Promise<void> {
  const { kept, present } = await accountsOf(database, hubspot);
  if (present !== null && kept === present) await endNotices(database, ['other_hubspot_account']);
  if (present === null || kept === present) return;
  const remedy: Remedy = { do: 'move to HubSpot account', account: present };
  await notifyStaff(database, {
    kind: 'other_hubspot_account',
    subject: null,
    params: { kept, present },
    remedy,
  });
  throw new OtherAccount(kept, present);
}

/**
 * The ids of the HubSpot account of this database's contacts, and of the account of the token; both null if HubSpot does not
 * return it.
 */
export async function accountsOf(
  database: Database,
  hubspot: HubspotClient,
): Promise<{ kept: string; present: string } | { kept: null; present: null }> {
  const present = await hubspot.getAccount();
  if (present === null) return { kept: null, present };
  return { kept: await sharedValue(database, HUBSPOT_ACCOUNT, () => present), present };
}

/**
 * Records that this database's contacts are those of the HubSpot account `account`. Contacts that are not there will count as
 * deleted. Changes nothing, and returns false, if the recorded account is not `from` any more.
 */
export async function changeAccount(database: Database, from: string, account: string): Promise<boolean> {
  const { rows } = await sql`
    update secret set value = ${account} where name = ${HUBSPOT_ACCOUNT} and value = ${from} returning name`.execute(
    database,
  );
  if (rows.length === 0) return false;
  await endNotices(database, ['other_hubspot_account']);
  return true;
}
