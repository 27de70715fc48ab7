import { PROOF_DUE_DAYS } from '#core/specified.ts';
import type { Society } from '../society/society.ts';
import type { DueLetter } from './dueLetters.ts';

/** If the proof of eligibility is missing, a letter asks for it this many days before it is due. */
const PROOF_ASKED_DAYS_LEFT = [14, 5, 1];

/** A membership or upgrade that was just paid for. */
export interface Sold {
  sessionUuid: string;
  intentId: string;
  type: 'membership' | 'membership_upgrade';
  programme: string;
  isSelfNomination: boolean;
  /** The email of a payer who paid by a pay link; null if the joiner paid. */
  payerEmail: string | null;
}

/**
 * Returns the letters that a sale makes due: the receipt immediately, the others on later days. A letter whose statements are not
 * true when its day comes is not sent (takeLetter.ts).
 */
export function lettersOfSale(
  { letters, programme: programmeOf }: Pick<Society, 'letters' | 'programme'>,
  { sessionUuid, intentId, type, programme, isSelfNomination, payerEmail }: Sold,
): DueLetter[] {
  const about = { sessionUuid, occasion: intentId };
  const receipt: DueLetter[] =
    payerEmail === null ? [] : [{ kind: 'payer-receipt', ...about, email: payerEmail }];
  if (type === 'membership_upgrade') return [{ kind: 'upgrade', ...about }, ...receipt];
  const owesProof = isSelfNomination || programmeOf(programme).transcriptRequired;
  return [
    { kind: 'confirmation', ...about },
    ...receipt,
    { kind: 'certificate', ...about, afterHours: 24 * letters.certificateAfterDays },
    { kind: 'portal', ...about, afterHours: 24 * letters.portalAfterDays },
    ...(owesProof ? PROOF_ASKED_DAYS_LEFT : []).map((days) => ({
      kind: 'proof-due' as const,
      sessionUuid,
      occasion: `${intentId} ${days}`,
      afterHours: 24 * (PROOF_DUE_DAYS - days),
    })),
  ];
}
