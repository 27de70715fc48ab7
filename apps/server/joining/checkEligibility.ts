import { sql } from 'kysely';
import { type InvitationFacts, type Opening, openingOf } from '#core/invitation.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { isSlip } from '#core/mintedCode.ts';
import { type Holdings, isMember, isMemberByHubspotAlone } from '#core/people.ts';
import { ELIGIBILITY_FAILED, INVITATION_EXPIRED } from '#core/sentences.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { ALREADY_MEMBER, holdings } from '../session/members.ts';
import { askAboutMember } from './askAboutMember.ts';
import {
  type CodeAttempt,
  countAttempt,
  forgiveAttempt,
  invitationFacts,
  mayAttempt,
  tooManyAttempts,
} from './codeAttempts.ts';
import type { Deps } from './deps.ts';

export interface Eligibility {
  status: 'success' | 'failed';
  message: string;
  /** The contact of a personal code; null for a school's code, and if `status` is `failed`. */
  contactId: string | null;
  /** True if the code is that of a member. */
  isMember?: boolean;
}

/**
 * The answer while HubSpot cannot be asked. It does not say that the code is invalid, because an invited student, whose code is
 * right, would then give up.
 */
export const CANNOT_CHECK = 'We cannot check invite codes right now. Please try again in a minute.';

/** What the database knows about a code. All fields but `is_within` are null if it does not know the code. */
interface FoundCode {
  invitation: InvitationFacts | null;
  contact_id: string | null;
  holdings: Holdings | null;
  /** Whether the caller's address is below its limit of wrong codes of this form. */
  is_within: boolean;
}

/**
 * Checks whether an invite code opens a join. Returns `failed` for a code that is unknown or withdrawn, has expired, is of a
 * programme in which no join may begin, or leads to a member. If only the mirror says that the contact is a member, the contact
 * is read from HubSpot again first.
 */
export async function checkEligibility(
  deps: Deps,
  given: { invitationCode: string; address: string },
): Promise<Eligibility> {
  const broken = inviteCodeError(given.invitationCode);
  if (broken) throw new Refusal(400, broken, { errors: { invitationCode: broken } });
  const { address } = given;
  const attempt = { code: normaliseInviteCode(given.invitationCode), addressHash: deps.hashAddress(address) };
  const { opening, ...code } = await lookUpCode(deps, attempt);
  if (opening !== 'opens')
    return {
      status: 'failed',
      message: opening === 'expired' ? INVITATION_EXPIRED : ELIGIBILITY_FAILED,
      contactId: null,
    };
  let found = code;
  if (found.contact_id !== null && isMemberByHubspotAlone(found.holdings)) {
    if (await askAboutMember(deps, { contactId: found.contact_id, address }))
      found = await find(deps, attempt);
  }
  if (isMember(found.holdings, 'code'))
    return { status: 'failed', message: ALREADY_MEMBER, contactId: null, isMember: true };
  return { status: 'success', message: 'Your invitation was found.', contactId: found.contact_id };
}

/**
 * Looks a code up here and, if it is not known here, in HubSpot. A code that opens nothing is counted by address, before HubSpot
 * is asked; the count is undone if HubSpot knows the code. For a code that opens, one read-only statement is enough. Throws 429
 * above the limit, and 503 if HubSpot has to be asked and does not answer.
 */
export async function lookUpCode(
  deps: Deps,
  attempt: CodeAttempt,
): Promise<Pick<FoundCode, 'invitation' | 'contact_id' | 'holdings'> & { opening: Opening }> {
  const opening = ({ invitation }: FoundCode) => openingOf(invitation, deps.society.openProgrammes);
  let found = await find(deps, attempt);
  if (!found.is_within) throw tooManyAttempts(deps);
  if (opening(found) !== 'opens') {
    const counted = await countAttempt(deps, attempt);
    if (!counted.is_within) throw tooManyAttempts(deps);
    if (!found.invitation) {
      // An address that has recently tried other wrong codes gets fewer of the searches that HubSpot allows, so that others are
      // served first.
      const isSuspect = counted.is_suspect || isSlip(attempt.code);
      const learned = await deps.contacts.learnCode(attempt.code, isSuspect ? 'suspect' : 'joiner');
      if (learned === 'unavailable') throw new Refusal(503, CANNOT_CHECK, { retryAfter: 5 });
      if (learned === 'known') {
        await forgiveAttempt(deps.database, attempt, counted);
        found = await find(deps, attempt);
      }
    }
  }
  return { ...found, opening: opening(found) };
}

async function find(deps: Deps, attempt: CodeAttempt): Promise<FoundCode> {
  const { rows } = await sql<FoundCode>`
    select ${invitationFacts} as invitation, (select contact_id from person where id = person_id) as contact_id,
      ${holdings('invitation.person_id')} as holdings,
      ${mayAttempt(deps, attempt)} as is_within
    from (select) as always left join invitation on code = ${attempt.code}`.execute(deps.database);
  return rows[0]!;
}
