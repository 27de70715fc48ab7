import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { Refusal } from '../platform/http/refusal.ts';

const CANNOT_LOOK_UP = 'We cannot look up who this link is for at this moment. Please try again in a minute.';
/** After so many seconds a page may ask again. */
const RETRY_SECONDS = 5;

/**
 * Sees to it that the mirror has the contact that a link names, and says whether anything is known of them. A signature
 * proves the id: where HubSpot cannot say, or does not know it, the join goes on with the id alone, the joiner types what
 * the form asks for, and the row is filled when HubSpot answers ({@link fillDue}). Without one, the id is a guess: 404 with
 * `sentence` for one that HubSpot does not know, 503 while it cannot say.
 */
export async function linkedContact(
  deps: Deps,
  contactId: string,
  link: 'signed' | 'unsigned',
  sentence: string,
): Promise<'known' | 'unknown' | 'unavailable'> {
  const found = await deps.contacts.refresh(contactId);
  if (found === 'known') return found;
  if (link === 'unsigned') {
    if (found === 'unknown') throw new Refusal(404, sentence);
    throw cannotLookUp();
  }
  await sql`
    insert into contact (id, fill_at) values (${contactId}, ${found === 'unavailable' ? sql`now()` : null})
    on conflict (id) do nothing`.execute(deps.database);
  return found;
}

/** HubSpot cannot say what has to be known: the page asks again by itself. */
export function cannotLookUp(): Refusal {
  return new Refusal(503, CANNOT_LOOK_UP, { retryAfter: RETRY_SECONDS });
}
