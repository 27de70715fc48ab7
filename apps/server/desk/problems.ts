import { displayPrice } from '#core/money.ts';
import { noticeSentence } from '#core/noticeSentence.ts';
import type { ShownPerson } from '../people/showPerson.ts';
import type { Society } from '../society/society.ts';
import { dateOf } from '../society/texts.ts';
import { letterNames } from './words.ts';

/** Returns what is wrong with a person's joins, in sentences, each once, which may have the uuids of joins in them. */
export function problemsOf(
  society: Society,
  { notices, joins, letters, documents, dueProofs, atHubspot, others, memberships }: ShownPerson,
): string[] {
  const isTold = (...kinds: string[]) => notices.some(({ kind }) => kinds.includes(kind));
  const problems = notices.map((notice) => noticeSentence(notice, (uuid) => uuid));
  for (const { id, refunds } of joins.flatMap(({ payments }) => payments))
    for (const { cents, status, refusal } of refunds)
      if (refusal !== null && (status === 'due' || status === 'pending'))
        problems.push(`A refund of ${displayPrice(cents)} of payment ${id} waits: ${refusal}`);
  for (const { kind, email, state, refusal } of letters)
    if (state === 'refused')
      problems.push(`The letter "${letterNames[kind]}" to ${email ?? 'nobody'} was refused: ${refusal}`);
  if (atHubspot.refusal !== null) problems.push(`HubSpot refuses what it is told: ${atHubspot.refusal}`);
  for (const { name, crm_refusal } of documents)
    if (crm_refusal !== null) problems.push(`HubSpot does not take the document ${name}: ${crm_refusal}`);
  for (const { paidAt } of dueProofs)
    problems.push(`The transcript is overdue: it was paid on ${dateOf(society, paidAt)}, and none has come.`);
  if (memberships > 1 && !isTold('held_twice'))
    problems.push(`${memberships} memberships are held. One of them is to be given back.`);
  if (memberships > 0 && !isTold('perhaps_twice', 'held_twice'))
    for (const other of others)
      if (other.isMember)
        problems.push(
          `Likely the same as ${other.name ?? 'somebody'} (ID ${other.id}), and both hold a membership.`,
        );
  return [...new Set(problems)];
}
