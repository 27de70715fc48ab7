/** Told to people who came by code or signed link, instead of charging them again. */
export const ALREADY_MEMBER =
  'This invitation belongs to someone who is already a member, so there is nothing to pay. Please contact us if you think this is a mistake.';
/** Told instead of selling a membership upgrade to somebody who is not a member. */
export const UPGRADE_FOR_MEMBERS =
  'This upgrade is for members only, and we do not know you as a member. Please join first, or contact us if you think this is a mistake.';
