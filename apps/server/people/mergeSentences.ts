import type { Merge, Named, Seen } from './mergePersons.ts';
import { count } from './privacy/counted.ts';

/** Returns a person's name and email, for staff. */
export const called = ({ name, email }: Named) => `${name ?? 'no name'}, ${email ?? 'no email'}`;

/** Returns a person as staff see them before a merge: name, email, contact, joins and what they hold. */
export function seenSentence({ name, email, contactId, joins, held }: Seen): string {
  return [
    called({ name, email }),
    contactId === null ? 'no contact in HubSpot' : `contact ${contactId}`,
    count(joins.length, 'join'),
    ...held.map(({ uuid, type }) => `holds a ${type.replace('_', ' ')} by ${uuid}`),
  ].join(', ');
}

/** Returns the sentence about what a merge writes into HubSpot; null if the person that remains has no contact. */
export function resultSentence({ into }: Pick<Merge, 'into'>): string | null {
  return into.contactId === null
    ? null
    : `What was bought is written into contact ${into.contactId}, with name, address and email.`;
}

/** The beginning of the sentence about two persons who hold the same type of membership. */
export const BOTH_HOLD = 'Both hold one, and pay for both until you give one back';

/** The sentence about two persons whom staff keep apart. */
export const KEPT_APART = 'Staff have said that they are two, though they are alike.';
