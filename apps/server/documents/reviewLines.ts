import type { FinalRejection } from './rejectFinally.ts';
import type { Reviewed } from './review.ts';

/**
 * Returns sentences about a decision: what it has changed or, in a trial, would change, and which earlier decision it takes back
 * or replaces.
 */
export function reviewLines(
  { count: decided, acceptedBefore, rejectedBefore }: Omit<Reviewed, 'transcripts'>,
  verdict: 'accepted' | 'rejected',
  isTrial: boolean,
): string[] {
  const is = (many: boolean) => (isTrial ? 'would be' : many ? 'are' : 'is');
  const lines = [`${decided} ${decided === 1 ? 'document' : 'documents'} ${is(decided > 1)} ${verdict}.`];
  if (verdict === 'rejected' && acceptedBefore > 0) {
    const which = decided === 1 ? 'It' : `${acceptedBefore} of them`;
    const were = acceptedBefore === 1 ? 'was' : 'were';
    lines.push(`${which} ${were} accepted before: that ${is(false)} taken back.`);
  }
  if (rejectedBefore !== null) {
    const whose = decided === 1 ? 'Its' : 'Their';
    const done = verdict === 'accepted' ? 'taken back' : 'replaced';
    lines.push(`${whose} rejection (${rejectedBefore}) ${is(false)} ${done}.`);
  }
  return lines;
}

/** Returns a line with the sentence that the applicant reads about a rejection or, in a trial, would read. */
export function readLine(sentence: string, isTrial: boolean): string {
  return `The applicant ${isTrial ? 'would read' : 'reads'}: ${sentence}`;
}

/**
 * Returns sentences about the transcripts that a final rejection has rejected or, in a trial, would reject; none if they were
 * already rejected finally.
 */
export function rejectionLines(
  { reviewed, sentence }: Pick<FinalRejection, 'reviewed' | 'sentence'>,
  isTrial: boolean,
): string[] {
  return reviewed.count > 0
    ? [...reviewLines(reviewed, 'rejected', isTrial), readLine(sentence, isTrial)]
    : [];
}

/**
 * Returns a sentence about other joins with the same name and email that still hold a membership after a final rejection.
 */
export function alsoHeld(others: readonly string[]): string {
  return `The same name and email still hold a membership by join ${others.join(' and join ')}. If it is the same person, give it back, too:`;
}
