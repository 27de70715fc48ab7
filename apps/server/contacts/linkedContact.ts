import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { Refusal } from '../platform/http/refusal.ts';

const CANNOT_LOOK_UP = 'We cannot look up who this link is for at this moment. Please try again in a minute.';
/** After how many seconds a page may ask again. */
const RETRY_SECONDS = 5;

/**
 * Makes sure that the mirror has the contact that a link names, and returns whether anything is known of it. A signed link proves
 * the id: if HubSpot cannot answer or does not know the contact, the join continues with the id alone, and the joiner fills in the
 * form; after an outage {@link fillDue} fills the row. Without a signature the id is a guess: throws 404 with `sentence` when
 * HubSpot does not know the contact, 503 while it cannot answer.
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

/** The refusal for calls that need HubSpot's answer while HubSpot cannot give one. The page retries by itself. */
export function cannotLookUp(): Refusal {
  return new Refusal(503, CANNOT_LOOK_UP, { retryAfter: RETRY_SECONDS });
}
