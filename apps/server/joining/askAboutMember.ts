import { countWithin } from '../platform/http/limits.ts';
import type { Deps } from './deps.ts';

/**
 * Reads a contact from HubSpot once more, within two seconds. To be called if only the mirror says that the contact is a member.
 * Each such read counts against the address's limit of wrong codes, because somebody with a member's code could otherwise use up
 * all our calls to HubSpot. Above the limit, returns false without reading, and the contact counts as a member.
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
