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
export const CANNOT_CHECK = 'We cannot check invite codes at this moment. Please try again in a minute.';

/** What the database knows about a code; null in each field if it does not know the code. */
interface FoundCode {
  invitation: InvitationFacts | null;
  contact_id: string | null;
  holdings: Holdings | null;
  /** Whether the caller's address is below its limit of wrong codes. */
  is_within: boolean;
}

/**
 * Checks whether an invite code opens a join. Returns `failed` for a code that is unknown or withdrawn, has expired, or is of a
 * programme in which no join may begin. If our database does not know the code, the attempt is counted by address before HubSpot is asked, and
 * the count is undone if HubSpot knows the code. For a known code one read-only statement is enough, with one exception: if the
 * mirror calls the contact a member and no membership was bought here, the contact is read from HubSpot again.
 */
export async function checkEligibility(
  deps: Deps,
  given: { invitationCode: string; address: string },
): Promise<Eligibility> {
  const broken = inviteCodeError(given.invitationCode);
  if (broken) throw new Refusal(400, broken, { errors: { invitationCode: broken } });
  const code = normaliseInviteCode(given.invitationCode);
  const attempt: CodeAttempt = { code, addressHash: deps.hashAddress(given.address) };

  let found = await find();
  if (!found.is_within) throw tooManyAttempts(deps);
  if (opening() !== 'opens') {
    const counted = await countAttempt(deps, attempt);
    if (!counted.is_within) throw tooManyAttempts(deps);
    if (!found.invitation) {
      // An address that has recently tried other wrong codes gets fewer of the searches that HubSpot allows, so that others are
      // served first.
      const isSuspect = counted.is_suspect || isSlip(code);
      const learned = await deps.contacts.learnCode(code, isSuspect ? 'suspect' : 'joiner');
      if (learned === 'unavailable') throw new Refusal(503, CANNOT_CHECK, { retryAfter: 5 });
      if (learned === 'known') {
        await forgiveAttempt(deps.database, attempt, counted);
        found = await find();
      }
    }
  }

  if (opening() !== 'opens')
    return {
      status: 'failed',
      message: opening() === 'expired' ? INVITATION_EXPIRED : ELIGIBILITY_FAILED,
      contactId: null,
    };
  if (found.contact_id !== null && isMemberByHubspotAlone(found.holdings)) {
    const { address } = given;
    if (await askAboutMember(deps, { contactId: found.contact_id, address })) found = await find();
  }
  if (isMember(found.holdings, 'code'))
    return { status: 'failed', message: ALREADY_MEMBER, contactId: null, isMember: true };
  return { status: 'success', message: 'Your invitation was found.', contactId: found.contact_id };

  function opening(): Opening {
    return openingOf(found.invitation, deps.society.openProgrammes);
  }

  async function find(): Promise<FoundCode> {
    const { rows } = await sql<FoundCode>`
      select ${invitationFacts} as invitation, (select contact_id from person where id = person_id) as contact_id,
        ${holdings('invitation.person_id')} as holdings,
        ${mayAttempt(deps, attempt)} as is_within
      from (select) as always left join invitation on code = ${code}`.execute(deps.database);
    return rows[0]!;
  }
}
