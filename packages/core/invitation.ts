/**
 * The states of an invitation, as staff see them. If several apply, the first of withdrawn, used, expired is shown. Used: a join
 * began with it.
 */
export const invitationStates = ['unused', 'used', 'expired', 'withdrawn'] as const;
export type InvitationState = (typeof invitationStates)[number];

/** The facts that decide whether a code opens a join. */
export interface InvitationFacts {
  isWithdrawn: boolean;
  hasExpired: boolean;
  /** The key of the programme; null if the code fits all programmes. */
  programme: string | null;
}

/**
 * The result of opening a code. A withdrawn code, or a code of a programme in which no joins may begin, has the same result as an
 * unknown code.
 */
export type Opening = 'opens' | 'expired' | 'unknown';

/**
 * Decides the result of opening a code. `invitation` is null if there is none with this code. `openProgrammes` are those in which
 * joins may begin.
 */
export function openingOf(invitation: InvitationFacts | null, openProgrammes: readonly string[]): Opening {
  if (invitation === null || invitation.isWithdrawn) return 'unknown';
  if (invitation.hasExpired) return 'expired';
  const { programme } = invitation;
  return programme === null || openProgrammes.includes(programme) ? 'opens' : 'unknown';
}
