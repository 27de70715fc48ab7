import type { BatchAnswer, CrmContact } from './answers.ts';
import { isInvalidEmail, reasonOf } from './failures.ts';
import { MERGED_IDS } from './properties.ts';

/** One contact of a batch write, by a mark of the caller's that its error is told by. */
export interface BatchWrite {
  mark: string;
  /** Null: create it. */
  id: string | null;
  properties: Record<string, string>;
}
/**
 * What became of it. A conflict is a contact with that email, by its id if HubSpot says it; `gone` is one that HubSpot does
 * not know, or has no more. One that was written under another id than was asked for has been merged.
 */
export type BatchOutcome =
  | { kind: 'written'; id: string; isMerged: boolean }
  | { kind: 'gone' }
  | { kind: 'conflict'; id: string | null }
  | { kind: 'refused'; reason: string; isEmail: boolean };

/** HubSpot answers with the contact that an id leads to, and does not say which id that was. */
export function byAskedId(ids: readonly string[], results: readonly CrmContact[]): Map<string, CrmContact> {
  const found = new Map<string, CrmContact>();
  for (const contact of results)
    for (const id of [contact.id, ...(contact.properties[MERGED_IDS] ?? '').split(';')])
      if (ids.includes(id)) found.set(id, contact);
  return found;
}

/** The contact that has the email, as the message of a conflict says. */
export function existingId(message: string): string | null {
  return /Existing ID: (\d+)/.exec(message)?.[1] ?? null;
}

/** By mark. Errors name the mark or the id of what they are about; of what the answer does not say nothing is known. */
export function outcomesOf(writes: readonly BatchWrite[], answer: BatchAnswer): Map<string, BatchOutcome> {
  const outcomes = new Map<string, BatchOutcome>();
  for (const { category, message, errors, context } of answer.errors ?? []) {
    const about = writes.filter(
      ({ mark, id }) =>
        context?.objectWriteTraceId?.includes(mark) || (id !== null && context?.ids?.includes(id)),
    );
    for (const { mark } of about)
      outcomes.set(
        mark,
        category === 'CONFLICT'
          ? { kind: 'conflict', id: existingId(message) }
          : category === 'OBJECT_NOT_FOUND'
            ? { kind: 'gone' }
            : {
                kind: 'refused',
                reason: reasonOf({ message, errors }) ?? message,
                isEmail: isInvalidEmail({ message, errors }),
              },
      );
  }
  const answered = new Set(answer.results.map(({ id }) => id));
  // The ids that merged contacts have now.
  const others = answer.results.filter((contact) => writes.every(({ id }) => id !== contact.id));
  const byEmail = new Map(others.map((contact) => [contact.properties.email?.toLowerCase(), contact.id]));
  for (const { mark, id, properties } of writes) {
    if (outcomes.has(mark)) continue;
    if (id === null) {
      const written = byEmail.get(properties.email?.toLowerCase());
      outcomes.set(
        mark,
        written === undefined
          ? // It did not say what became of it: to be looked for by its email.
            { kind: 'conflict', id: null }
          : { kind: 'written', id: written, isMerged: false },
      );
    } else if (answered.has(id) || others.length > 0)
      outcomes.set(mark, { kind: 'written', id, isMerged: !answered.has(id) });
  }
  return outcomes;
}
