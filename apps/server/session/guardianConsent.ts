import { type RawBuilder, sql } from 'kysely';
import type { Society } from '../society/society.ts';
import { fillIn } from '../society/texts.ts';

/**
 * Returns the sentence by which the joiners of a programme say that they are of age, or that a parent or guardian agrees. Null if the
 * programme does not ask.
 */
export function guardianConsentOf(society: Society, key: string): string | null {
  const { guardianConsent } = society.programme(key);
  return guardianConsent === undefined ? null : fillIn(guardianConsent, society, key);
}

/**
 * The part of an `update join_session set` that keeps the sentence by which the joiner said that they are of age, or that a parent or
 * guardian agrees, and the time. What the join already has stays, so that a sentence that the society changes later is not asked again.
 * `sentence` is null if the programme does not ask: then nothing is written.
 */
export function keepGuardianConsent(sentence: string | null): RawBuilder<unknown> {
  return sql`guardian_consent = coalesce(guardian_consent, ${sentence}::text),
      guardian_consent_at = coalesce(guardian_consent_at, case when ${sentence}::text is not null then now() end)`;
}
