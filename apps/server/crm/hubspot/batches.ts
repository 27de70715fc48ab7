import type { BatchAnswer, CrmContact } from './answers.ts';
import { isInvalidEmail, reasonOf } from './failures.ts';
import { mergedIds } from './properties.ts';

/** One contact of a batch write. The caller chooses `mark`, which HubSpot repeats in an error about this contact. */
export interface BatchWrite {
  mark: string;
  /** The id of the contact to update; null to create a contact. */
  id: string | null;
  properties: Record<string, string>;
}
/**
 * The result for one contact:
 * - `written`: HubSpot has written it.
 * - `conflict`: another contact has the email. `id` is that contact's id, or null if HubSpot does not name it.
 * - `gone`: the contact does not exist or was deleted.
 * - `refused`: HubSpot refuses the values.
 */
export type BatchOutcome =
  | { kind: 'written'; id: string }
  | { kind: 'gone' }
  | { kind: 'conflict'; id: string | null }
  | { kind: 'refused'; reason: string; isEmail: boolean };

/**
 * Maps each requested id to the contact that HubSpot returned for it. The id of a merged contact is mapped to the contact into
 * which it was merged.
 */
export function byAskedId(ids: readonly string[], results: readonly CrmContact[]): Map<string, CrmContact> {
  const found = new Map<string, CrmContact>();
  for (const contact of results)
    for (const id of [contact.id, ...mergedIds(contact)]) if (ids.includes(id)) found.set(id, contact);
  return found;
}

/** Extracts from the message of a conflict the id of the contact that has the email. */
export function existingId(message: string): string | null {
  return /Existing ID: (\d+)/.exec(message)?.[1] ?? null;
}

/**
 * Returns the outcome of each write by its mark. An error in the answer names the write by its mark or by its contact's id. If
 * the answer mentions an update neither in an error nor in a result (as when the contact was merged), the update has no outcome.
 * If the answer does not mention a creation, the creation's outcome is a conflict without an id.
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
  const byEmail = new Map(
    answer.results.map((contact) => [contact.properties.email?.toLowerCase(), contact.id]),
  );
  for (const { mark, id, properties } of writes) {
    if (outcomes.has(mark)) continue;
    if (id === null) {
      const written = byEmail.get(properties.email?.toLowerCase());
      outcomes.set(
        mark,
        written === undefined
          ? // The answer does not mention the new contact. The caller then searches for a contact with its email.
            { kind: 'conflict', id: null }
          : { kind: 'written', id: written },
      );
    } else if (answered.has(id)) outcomes.set(mark, { kind: 'written', id });
  }
  return outcomes;
}
