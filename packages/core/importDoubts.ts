import { SHORTEST_CODE } from './guessableCodes.ts';

/** Something about an imported line that staff may not have intended. */
export type Doubt =
  /** Before this import, the code led to another contact, who has joined with it. */
  | 'moved'
  /** The code has expired, so nobody can join with it. */
  | 'expired'
  /** Staff have withdrawn the code, and it stays withdrawn. */
  | 'withdrawn'
  /** The contact is a member, so the code is refused to them. */
  | 'member';

/** Personal codes of a file that can be guessed, or mistaken for one another. */
export interface Guessable {
  kind: 'short' | 'sequential' | 'alike';
  /** How many codes of this kind there are. For the kind `alike`: how many pairs of similar codes were found; there may be more. */
  count: number;
  /** Line numbers in the imported file. `short`: of the first such code. `sequential`, `alike`: of the first two. */
  lines: number[];
}

const doubtful: Record<Doubt, string> = {
  moved: 'codes that lead to another contact now, while their joins stay with the contact who began them',
  expired: 'codes that have expired already',
  member: 'contacts who are members already, and should not be invited again',
  withdrawn: 'codes that were withdrawn, and stay so (extending opens one again)',
};

/** Returns a sentence for staff that says how many lines are doubtful, and the number of the first one. */
export function doubtSentence(doubt: Doubt, count: number, line: number): string {
  return `${doubtful[doubt]}: ${count}, such as on line ${line}.`;
}

/** Returns a sentence for staff that says how many of the contacts for whom codes are made are members, and names one of them. */
export function membersSentence(count: number, contactId: string): string {
  return `${doubtful.member}: ${count}, such as contact ${contactId}.`;
}

/**
 * Returns a warning for staff about guessable codes. It has line numbers instead of the codes, since the output may end up in a
 * log.
 */
export function guessableSentence({ kind, count, lines }: Guessable): string {
  const where = `such as on ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(' and ')}`;
  switch (kind) {
    case 'short':
      return `personal codes of fewer than ${SHORTEST_CODE} characters: ${count}, ${where}. Anyone can guess them.`;
    case 'sequential':
      return `personal codes that follow on another one: ${count}, ${where}. Whoever has one knows the next.`;
    case 'alike':
      return `personal codes that differ from another one by one character: at least ${count}, ${where}. A slip of the finger opens somebody else's invitation.`;
  }
}
