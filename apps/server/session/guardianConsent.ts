import { type RawBuilder, sql } from 'kysely';
import type { Society } from '../society/society.ts';
import { fillIn } from '../society/texts.ts';

/** Returns the sentence that asks for guardian consent in a programme; null if the programme does not ask. */
export function guardianConsentOf(society: Society, key: string): string | null {
  const { guardianConsent } = society.programme(key);
  return guardianConsent === undefined ? null : fillIn(guardianConsent, society, key);
}

/** Returns the sentence that asks somebody who pays by a pay link for guardian consent; null if the programme does not ask. */
export function payerConsentOf(society: Society, key: string): string | null {
  const { guardianConsent, payerConsent = guardianConsent } = society.programme(key);
  return guardianConsent === undefined ? null : fillIn(payerConsent!, society, key);
}

/**
 * SQL for the part of `update join_session set …` that stores the guardian consent sentence and the time of consent. If a
 * sentence is stored already, it is kept, so that a join is not asked again when the society changes its sentence. If `sentence`
 * is null (the programme does not ask), writes nothing.
 */
export function keepGuardianConsent(sentence: string | null): RawBuilder<unknown> {
  return sql`guardian_consent = coalesce(guardian_consent, ${sentence}::text),
      guardian_consent_at = coalesce(guardian_consent_at, case when ${sentence}::text is not null then now() end)`;
}
