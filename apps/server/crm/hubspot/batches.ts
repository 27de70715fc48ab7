import { EMAIL } from '#core/crmProjection.ts';
import type { BatchAnswer, CrmContact } from './answers.ts';
import { refusalOf } from './failures.ts';
import { mergedIds } from './properties.ts';

/** HubSpot's category of an error about a record that does not exist. */
export const NOT_FOUND = 'OBJECT_NOT_FOUND';

/** One contact of a batch write. The caller chooses `mark`, which HubSpot repeats in an error about this contact. */
export interface BatchWrite {
  mark: string;
  /** The id of the contact to update; null to create a contact. */
  id: string | null;
  properties: Record<string, string>;
}
/** The result for one contact. `conflict`: another contact has the email, whose `id` is null if HubSpot does not name it. */
export type BatchOutcome =
  | { kind: 'written'; id: string }
  | { kind: 'conflict'; id: string | null }
  | { kind: 'refused'; reason: string; isEmail: boolean };

/** Maps each requested id to the contact that HubSpot returned for it: for a merged contact, the one into which it was merged. */
export function byAskedId(ids: readonly string[], results: readonly CrmContact[]): Map<string, CrmContact> {
  const found = new Map<string, CrmContact>();
  for (const contact of results)
    for (const id of [contact.id, ...mergedIds(contact)]) if (ids.includes(id)) found.set(id, contact);
  return found;
}

/** Returns the outcome of a write that HubSpot refuses. A conflict is about the email, if it was sent. */
export function refusedOutcome(
  { properties }: BatchWrite,
  { isConflict, message, isEmail }: { isConflict: boolean; message: string; isEmail: boolean },
): BatchOutcome {
  return isConflict && EMAIL in properties
    ? { kind: 'conflict', id: /Existing ID: (\d+)/.exec(message)?.[1] ?? null }
    : { kind: 'refused', reason: message, isEmail };
}

/**
 * Returns the outcome of each write by its mark. An update has no outcome if its contact does not exist any more, or if the
 * answer does not mention it, for example because it was merged. A creation that the answer does not mention is a conflict
 * without an id.
 */
export function outcomesOf(writes: readonly BatchWrite[], answer: BatchAnswer): Map<string, BatchOutcome> {
  const byEmail = new Map(answer.results.map(({ id, properties }) => [properties.email?.toLowerCase(), id]));
  const outcomes = new Map<string, BatchOutcome>();
  for (const write of writes) {
    const { mark, id, properties } = write;
    const error = answer.errors?.find(
      ({ context }) =>
        context?.objectWriteTraceId?.includes(mark) || (id !== null && context?.ids?.includes(id)),
    );
    const written =
      id === null
        ? byEmail.get(properties.email?.toLowerCase())
        : answer.results.find((contact) => contact.id === id)?.id;
    if (error) {
      if (error.category === NOT_FOUND) continue;
      const isConflict = error.category === 'CONFLICT';
      const { reason, isEmail } = refusalOf('', error);
      outcomes.set(mark, refusedOutcome(write, { isConflict, message: reason ?? error.message, isEmail }));
    } else if (written !== undefined) outcomes.set(mark, { kind: 'written', id: written });
    // The caller searches for a contact with its email.
    else if (id === null) outcomes.set(mark, { kind: 'conflict', id: null });
  }
  return outcomes;
}
