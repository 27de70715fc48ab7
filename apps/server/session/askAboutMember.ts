import type { Deps } from '../deps.ts';
import { countWithin } from '../platform/http/limits.ts';

/**
 * Asks HubSpot anew about a contact whom only the mirror calls a member, within two seconds. Counted like a wrong code:
 * who has a member's code could otherwise use up all that HubSpot lets us ask. False when that limit is full: then the
 * mirror's word stays.
 */
export async function askAboutMember(
  deps: Deps,
  { contactId, address }: { contactId: string; address: string },
): Promise<boolean> {
  const limit = deps.config.limits?.wrongCodesPerAddress;
  const isWithin =
    !limit || (await countWithin(deps.database, 'wrong_code', deps.hashAddress(address), limit));
  if (isWithin) await deps.contacts.refresh(contactId);
  return isWithin;
}
