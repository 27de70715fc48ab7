import { sql } from 'kysely';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';
import { makeDue } from './queuePersonsForHubspot.ts';

const CANNOT_LOOK_UP = 'We cannot look up who this link is for at this moment. Please try again in a minute.';
/** The Retry-After of the refusal (s). */
const RETRY_SECONDS = 5;

/**
 * Makes sure that the mirror has a row for the contact of a link. Returns whether the contact is known. A signed link proves the
 * id, so the join continues with the id alone. If HubSpot is unavailable, the person is made due to be sent, so that the contact
 * is read after the outage. The id in an unsigned link may be a guess: throws 404 with `sentence` if HubSpot does not know it,
 * and 503 while HubSpot cannot answer.
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
    insert into person (contact_id) values (${contactId}) on conflict (contact_id) do nothing`.execute(
    deps.database,
  );
  const bare = sql`(select id from person where contact_id = ${contactId} and fetched_at is null and deleted_at is null)`;
  if (found === 'unavailable') await makeDue(bare).execute(deps.database);
  return found;
}

/** The refusal (503) while an answer from HubSpot is needed and HubSpot cannot give it. The page retries by itself. */
export function cannotLookUp(): Refusal {
  return new Refusal(503, CANNOT_LOOK_UP, { retryAfter: RETRY_SECONDS });
}
