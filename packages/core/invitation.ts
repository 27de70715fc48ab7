/** The states of an invitation, as staff see them. Of several it has the first of: withdrawn, used, expired. Used: a join began with it. */
export const invitationStates = ['unused', 'used', 'expired', 'withdrawn'] as const;
export type InvitationState = (typeof invitationStates)[number];

/** What decides whether a code opens a join. */
export interface InvitationFacts {
  isWithdrawn: boolean;
  hasExpired: boolean;
  /** The key of the programme; null if the code fits all programmes. */
  programme: string | null;
}

/**
 * What a code is answered. A withdrawn code, and one of a programme that the society has given up, is answered like one that nobody
 * knows.
 */
export type Opening = 'opens' | 'expired' | 'unknown';

/** Decides what a code is answered; `null`: there is no such invitation. `openProgrammes` are those in which joins may begin. */
export function openingOf(invitation: InvitationFacts | null, openProgrammes: readonly string[]): Opening {
  if (invitation === null || invitation.isWithdrawn) return 'unknown';
  if (invitation.hasExpired) return 'expired';
  const { programme } = invitation;
  return programme === null || openProgrammes.includes(programme) ? 'opens' : 'unknown';
}
