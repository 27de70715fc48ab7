/** Told to people who came by code or signed link, instead of charging them again. */
export const ALREADY_MEMBER =
  'This invitation belongs to someone who is already a member, so there is nothing to pay. Please contact us if you think this is a mistake.';
