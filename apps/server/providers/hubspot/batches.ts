import type { BatchAnswer, CrmContact } from './answers.ts';
import { isInvalidEmail, reasonOf } from './failures.ts';
import { MERGED_IDS } from './properties.ts';

/** One contact of a batch write. HubSpot repeats the caller's `mark` in an error about this contact. */
export interface BatchWrite {
  mark: string;
  /** Null to create the contact. */
  id: string | null;
  properties: Record<string, string>;
}
/**
 * The result for one contact. `conflict`: another contact has that email; `id` is its id, if HubSpot names it. `gone`: HubSpot does
 * not know the contact or has deleted it. `isMerged`: HubSpot wrote to another id than the one asked for, because the contact has
 * been merged.
 */
export type BatchOutcome =
  | { kind: 'written'; id: string; isMerged: boolean }
  | { kind: 'gone' }
  | { kind: 'conflict'; id: string | null }
  | { kind: 'refused'; reason: string; isEmail: boolean };

/**
 * Maps each requested id to its contact. For the id of a merged contact HubSpot returns the contact that remains, with another id.
 */
export function byAskedId(ids: readonly string[], results: readonly CrmContact[]): Map<string, CrmContact> {
  const found = new Map<string, CrmContact>();
  for (const contact of results)
    for (const id of [contact.id, ...(contact.properties[MERGED_IDS] ?? '').split(';')])
      if (ids.includes(id)) found.set(id, contact);
  return found;
}

/** Extracts from a conflict's message the id of the contact that has the email. */
export function existingId(message: string): string | null {
  return /Existing ID: (\d+)/.exec(message)?.[1] ?? null;
}

/**
 * Returns the results by mark. Errors name the mark or the id of their contact. An update that the answer does not mention is left
 * out.
 */
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
  // Contacts in the answer whose ids were not requested: merged or created contacts.
  const others = answer.results.filter((contact) => writes.every(({ id }) => id !== contact.id));
  const byEmail = new Map(others.map((contact) => [contact.properties.email?.toLowerCase(), contact.id]));
  for (const { mark, id, properties } of writes) {
    if (outcomes.has(mark)) continue;
    if (id === null) {
      const written = byEmail.get(properties.email?.toLowerCase());
      outcomes.set(
        mark,
        written === undefined
          ? // The answer does not mention the contact. The caller then looks for it by its email.
            { kind: 'conflict', id: null }
          : { kind: 'written', id: written, isMerged: false },
      );
    } else if (answered.has(id) || others.length > 0)
      outcomes.set(mark, { kind: 'written', id, isMerged: !answered.has(id) });
  }
  return outcomes;
}
