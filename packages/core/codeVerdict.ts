/** What is known of a code that leads somewhere. */
export interface KnownCodeFacts {
  code: string;
  /** Null: it leads to a school. */
  contactId: string | null;
  name: string | null;
  school: string | null;
  /** Why no code of its programme can be used, as a sentence; null if they can. */
  programmeFault: string | null;
  expiresAt: Date | null;
  hasExpired: boolean;
  isWithdrawn: boolean;
  withdrawnAt: Date | null;
  withdrawnBy: string | null;
  /** Whether HubSpot has deleted the contact. */
  isDeleted: boolean;
  isMember: boolean;
  /** How many joins began with it, and the newest of them. */
  joins: number;
  newest: { at: Date; state: string } | null;
}

/** What is known of a text that is no code. */
export interface UnknownCodeFacts {
  form: 'malformed' | 'minted' | 'slip' | 'other';
  /** Whether HubSpot was asked, and does not know it either. */
  isAsked: boolean;
  joins: number;
  /** Codes that are almost the same, with whom they lead to. */
  near: { code: string; whom: string | null }[];
}

export type CodeFault = 'withdrawn' | 'expired' | 'programme' | 'member' | 'unknown' | 'unavailable';

export interface CodeVerdict {
  sentence: string;
  /** Why it opens no join; null if it opens one. */
  fault: CodeFault | null;
}

/** Returns the last day on which a code is good, in the words of `dayOf`: a day ends with the first moment of the next one. */
export function lastDayOf(expiresAt: Date, dayOf: (time: Date) => string): string {
  return dayOf(new Date(expiresAt.getTime() - 1));
}

/** Says whom a code leads to, or why it fails. `dayOf` writes a day as its front door does. */
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

/** Says why a text is no code, and which codes are almost the same. */
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
