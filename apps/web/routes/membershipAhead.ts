import type { Data } from '#contract/schemas.ts';

type Details = Data<'getMembershipDetails'>;

/** The answer to Save has what Membership would ask for. It is true then, and used once: a later visit asks anew. */
let ahead: { uuid: string; details: Details } | null = null;

export function keepMembershipDetails(uuid: string, details: Details | null): void {
  ahead = details && { uuid, details };
}

export function takeMembershipDetails(uuid: string): Details | null {
  const kept = ahead?.uuid === uuid ? ahead.details : null;
  ahead = null;
  return kept;
}
