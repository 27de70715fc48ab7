import { type RawBuilder, sql } from 'kysely';
import type { Society } from '../society/society.ts';
import { fillIn } from '../society/texts.ts';

/** Returns the guardian consent sentence of a programme; null if the programme does not ask for consent. */
export function guardianConsentOf(society: Society, key: string): string | null {
  const { guardianConsent } = society.programme(key);
  return guardianConsent === undefined ? null : fillIn(guardianConsent, society, key);
}

/**
 * The part of an `update join_session set` that stores the guardian consent sentence and the time. A stored sentence is kept, so
 * that a join is not asked again when the society changes its sentence. With `sentence` null (the programme does not ask) nothing
 * is written.
 */
export function keepGuardianConsent(sentence: string | null): RawBuilder<unknown> {
  return sql`guardian_consent = coalesce(guardian_consent, ${sentence}::text),
      guardian_consent_at = coalesce(guardian_consent_at, case when ${sentence}::text is not null then now() end)`;
}
