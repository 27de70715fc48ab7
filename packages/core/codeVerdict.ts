/** What is known about a code that leads to a contact or a school. */
export interface KnownCodeFacts {
  code: string;
  /** Null if the code leads to a school. */
  contactId: string | null;
  name: string | null;
  school: string | null;
  /** A sentence that says why no code of its programme can be used; null if codes of the programme can be used. */
  programmeFault: string | null;
  expiresAt: Date | null;
  hasExpired: boolean;
  isWithdrawn: boolean;
  withdrawnAt: Date | null;
  withdrawnBy: string | null;
  /** Whether HubSpot has deleted the contact. */
  isDeleted: boolean;
  isMember: boolean;
  /** How many joins began with the code, and the newest of these joins. */
  joins: number;
  newest: { at: Date; state: string } | null;
}

/** What is known about a text that is not the code of an invitation. */
export interface UnknownCodeFacts {
  form: 'malformed' | 'minted' | 'slip' | 'other';
  /** Whether HubSpot was asked for the code and does not know it either. */
  isAsked: boolean;
  joins: number;
  /** Codes of invitations that are almost the same, each with the person or school that it leads to. */
  near: { code: string; whom: string | null }[];
}

export type CodeFault = 'withdrawn' | 'expired' | 'programme' | 'member' | 'unknown' | 'unavailable';

export interface CodeVerdict {
  sentence: string;
  /** Why the code opens no join; null if it opens one. */
  fault: CodeFault | null;
}

/**
 * Returns the last day on which a code is valid, formatted by `dayOf`. A code that expires at midnight is last valid on the day
 * before.
 */
export function lastDayOf(expiresAt: Date, dayOf: (time: Date) => string): string {
  return dayOf(new Date(expiresAt.getTime() - 1));
}

/**
 * Returns the contact or school that a code leads to, or why the code fails. `dayOf` formats a day for the page or command that
 * shows it.
 */
export function verdictOnKnown(found: KnownCodeFacts, dayOf: (time: Date) => string): CodeVerdict {
  const { code, contactId, name, school, expiresAt, isDeleted, joins, newest } = found;
  const contact = `contact ${contactId}${name === null ? '' : ` (${name})`}`;
  const whom = contactId === null ? school! : contact;
  const used = newest
    ? `${counted(joins)} began with it, the newest on ${dayOf(newest.at)} (${newest.state})`
    : 'no join has begun with it';
  const fails = (fault: CodeFault, why: string) => ({ sentence: `${code} fails: ${why}.`, fault });
  if (found.isWithdrawn)
    return fails(
      'withdrawn',
      `it was withdrawn on ${dayOf(found.withdrawnAt!)} by ${found.withdrawnBy}; it led to ${whom}`,
    );
  if (found.hasExpired)
    return fails('expired', `its last day was ${lastDayOf(expiresAt!, dayOf)}; it led to ${whom}`);
  if (found.programmeFault !== null)
    return fails(
      'programme',
      `its programme ${found.programmeFault.replace(/\.$/, '')}; it leads to ${whom}`,
    );
  if (found.isMember) return fails('member', `${contact} is a member already; ${used}`);
  const until = expiresAt === null ? '' : ` until ${lastDayOf(expiresAt, dayOf)}`;
  const gone = isDeleted ? ', which was deleted in HubSpot, so that its joiner finds an empty form' : '';
  const often = contactId === null ? 'as often as anybody likes; ' : '';
  return { sentence: `${code} works${until}: it leads to ${whom}${gone}; ${often}${used}.`, fault: null };
}

const forms: Record<UnknownCodeFacts['form'], string> = {
  malformed: 'a code has letters and digits only, 64 at most',
  minted:
    'it looks like a code that Induct made, and its file was not imported, or its invitation was erased',
  slip: 'it looks like a code that Induct made, and its check letter is wrong, so that it was mistyped',
  other: 'there is no such invitation',
};

/** Returns why a text is not the code of an invitation, and which codes are almost the same. */
export function verdictOnUnknown(
  code: string,
  { form, isAsked, joins, near }: UnknownCodeFacts,
): CodeVerdict {
  const asked =
    form === 'malformed' ? '' : isAsked ? ', nor does HubSpot know it' : ', and HubSpot does not answer';
  const before = joins > 0 ? `; ${counted(joins)} began with it before` : '';
  const meant = near.map((each) => `${each.code}${each.whom === null ? '' : `, of ${each.whom}`}`);
  const like = meant.length > 0 ? ` They mean ${meant.join('; or ')}.` : '';
  return {
    sentence: `${code} fails: ${forms[form]}${asked}${before}.${like}`,
    fault: form === 'malformed' || isAsked ? 'unknown' : 'unavailable',
  };
}

const counted = (joins: number) => `${joins} ${joins === 1 ? 'join' : 'joins'}`;
