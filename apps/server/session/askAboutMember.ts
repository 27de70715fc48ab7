import type { Deps } from '../deps.ts';
import { countWithin } from '../platform/http/limits.ts';

/**
 * Asks HubSpot again, within two seconds, about a contact whom only the mirror calls a member. The call counts against the
 * address's limit of wrong codes: otherwise somebody with a member's code could use up our whole budget of calls to HubSpot.
 * Returns false when that limit is reached: then the mirror's answer stands.
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
