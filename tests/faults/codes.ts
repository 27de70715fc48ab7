import type { Browser } from './browser.ts';
import type { Difference } from './ledger.ts';
import type { Person } from './person.ts';
import { codeOf, contactIdOf, type World } from './world.ts';

/**
 * Tries the code of each contact that joined, after the mirror has read the contact from HubSpot. A code must be refused if its
 * contact holds a membership that was bought by the code or by a link. Otherwise it must be accepted, whatever strangers have
 * bought in the contact's name.
 */
export async function tryCodes(world: World, tab: Browser, people: readonly Person[]): Promise<Difference[]> {
  const found: Difference[] = [];
  const { rows } = await world.database.query<{ id: string }>(
    `select contact_id as id from person join join_session on person_id = person.id join membership on session_uuid = uuid
     where origin in ('invite', 'link', 'checkout') and type = 'membership' and standing in ('active', 'disputed')`,
  );
  const holders = new Set(rows.map(({ id }) => id));
  for (const contact of new Set(people.flatMap(({ join }) => join.contact ?? []))) {
    const id = contactIdOf(contact);
    await world.wired.deps.contacts.refresh(id);
    const { data } = await tab.call('checkEligibility', {
      body: { invitationCode: codeOf(contact), isTOLA: true },
    });
    if ((data.status === 'failed') !== holders.has(id))
      found.push({
        kind: 'code answered otherwise than what is proven',
        subject: `contact ${id}`,
        text: `${data.status}, and it ${holders.has(id) ? 'holds a membership' : 'holds none by its own code or link'}`,
      });
  }
  return found;
}
