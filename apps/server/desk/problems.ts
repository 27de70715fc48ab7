import { actionPath, deskOffers, type Offered } from '#core/deskOffers.ts';
import { displayPrice } from '#core/money.ts';
import { noticeSentence } from '#core/noticeSentence.ts';
import type { Remedy } from '#core/remedy.ts';
import type { ReadNotice } from '../letters/readNotices.ts';
import type { ShownPerson } from '../people/showPerson.ts';
import { dateOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { readPlaces } from './readPlaces.ts';
import { withoutUuids } from './withoutUuids.ts';
import { letterNames } from './words.ts';

/** Something that is wrong, with the actions that repair it. */
interface Problem extends Offered {
  text: string;
}

/** Returns the problems with a person, each once, with the actions that the desk offers to repair them. */
export async function problemsOf(
  deps: Pick<Deps, 'database' | 'society'>,
  person: ShownPerson,
): Promise<Problem[]> {
  const { id, notices, joins, letters, documents, dueProofs, atHubspot, others, memberships } = person;
  const places = await readPlaces(
    deps,
    notices.map(({ remedy }) => remedy),
  );
  const isTold = (...kinds: string[]) => notices.some(({ kind }) => kinds.includes(kind));
  const numberOf = (uuid: string) => String(joins.findIndex((join) => join.uuid === uuid) + 1);
  const offer = (
    name: string,
    action: string,
    about: Record<string, string> = {},
    role: 'staff' | 'finance' = 'staff',
  ): Offered => ({ offers: [{ name, path: actionPath(id, action, about), role }], advice: null });
  const retry = offer('Send to HubSpot again', 'retry-hubspot');
  const problems: Problem[] = notices.map((notice) => ({
    text: noticeSentence(notice, (uuid) => uuid),
    ...noticeOffers(notice, id, (remedy) => deskOffers(remedy, places)),
  }));
  for (const { uuid, payments } of joins)
    for (const { id: intentId, refunds } of payments)
      for (const { cents, status, refusal } of refunds)
        if (refusal !== null && (status === 'due' || status === 'pending'))
          problems.push({
            text: `A refund of ${displayPrice(cents)} of payment ${intentId} waits: ${refusal}`,
            ...offer('Settle', 'settle', { join: numberOf(uuid) }, 'finance'),
            advice: 'It is tried again by itself.',
          });
  for (const { id: letter, kind, email, state, refusal } of letters)
    if (state === 'refused')
      problems.push({
        text: `The letter "${letterNames[kind]}" to ${email ?? 'nobody'} was refused: ${refusal}`,
        ...offer('Send again', 'send-letter', { letter }),
      });
  if (atHubspot.refusal !== null)
    problems.push({ text: `HubSpot refuses what it is told: ${atHubspot.refusal}`, ...retry });
  for (const { name, crm_refusal } of documents)
    if (crm_refusal !== null)
      problems.push({ text: `HubSpot does not take the document ${name}: ${crm_refusal}`, ...retry });
  for (const { uuid, paidAt } of dueProofs)
    problems.push({
      text: `The transcript is overdue: it was paid on ${dateOf(deps.society, paidAt)}, and none has come.`,
      ...offer('Add a transcript', 'add-transcript', { join: numberOf(uuid) }),
    });
  if (memberships > 1 && !isTold('held_twice'))
    problems.push({
      text: `${memberships} memberships are held. One of them is to be given back.`,
      ...offer('Refund', 'refund', {}, 'finance'),
    });
  if (memberships > 0 && !isTold('perhaps_twice', 'held_twice'))
    for (const other of others)
      if (other.isMember) {
        const about = { other: String(other.id) };
        problems.push({
          text: `Likely the same as ${other.name ?? 'somebody'} (ID ${other.id}), and both hold a membership.`,
          offers: [
            ...offer('They are one person', 'join', about).offers,
            ...offer('They are two', 'keep-apart', about).offers,
          ],
          advice: null,
        });
      }
  const texts = await withoutUuids(
    deps,
    problems.map(({ text }) => text),
  );
  const said = problems.map((problem, index) => ({ ...problem, text: texts[index]! }));
  return said.filter(({ text }, index) => texts.indexOf(text) === index);
}

/**
 * Returns the actions that the desk offers for a notice. They usually follow from its remedy; for a refused email it is the
 * correction of the person.
 */
export function noticeOffers(
  { kind, remedy }: Pick<ReadNotice, 'kind' | 'remedy'>,
  personId: number | null,
  ofRemedy: (remedy: Remedy | null) => Offered,
): Offered {
  if (kind !== 'email_refused' || personId === null) return ofRemedy(remedy);
  return { offers: [{ name: 'Correct', path: `/people/${personId}/correct`, role: 'staff' }], advice: null };
}
