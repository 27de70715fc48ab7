/** The roles of staff. Each has the rights of those before it. */
export const staffRoles = ['staff', 'finance', 'owner'] as const;
export type StaffRole = (typeof staffRoles)[number];

/** Whether a role has the rights of `least`. */
export function hasRightsOf(role: StaffRole, least: StaffRole): boolean {
  return staffRoles.indexOf(role) >= staffRoles.indexOf(least);
}

/** How long a sign-in link holds. */
export const LINK_HOURS = 24;
/** A session ends when it was not used for so long, and this long after the sign-in. */
export const SESSION_IDLE_HOURS = 8;
export const SESSION_HOURS = 24;
/** How long the challenge of a passkey holds. */
export const CHALLENGE_MINUTES = 5;

/** The most characters of what staff note of somebody. */
export const NOTE_MAX_LENGTH = 2_000;
