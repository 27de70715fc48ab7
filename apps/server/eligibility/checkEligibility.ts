import { sql } from 'kysely';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { isSlip } from '#core/mintedCode.ts';
import { type Holdings, isMember, isMemberByHubspotAlone } from '#core/people.ts';
import { ELIGIBILITY_FAILED, INVITATION_EXPIRED } from '#core/sentences.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { askAboutMember } from '../session/askAboutMember.ts';
import { ALREADY_MEMBER, holdings } from '../session/members.ts';
import {
  type CodeAttempt,
  type CountedAttempt,
  countingAttempt,
  forgiveAttempt,
  HAS_EXPIRED,
  inTurn,
  isUsable,
  mayAttempt,
  tooManyAttempts,
} from './codeAttempts.ts';

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
const CANNOT_CHECK = 'We cannot check invite codes at this moment. Please try again in a minute.';

/**
 * What the database knows about a code. If it does not know the code, `expired` is false, `is_usable` is true, and the other
 * fields are null. `is_within` is whether the caller's address is below its limit of wrong codes.
 */
interface FoundCode {
  code: string | null;
  contact_id: string | null;
  expired: boolean;
  is_usable: boolean;
  holdings: Holdings | null;
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
  if (!found.code || !found.is_usable) {
    const counted = await inTurn(count);
    if (!counted.is_within) throw tooManyAttempts(deps);
    if (!found.code) {
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

  if (!found.code || !found.is_usable)
    return {
      status: 'failed',
      message: found.expired ? INVITATION_EXPIRED : ELIGIBILITY_FAILED,
      contactId: null,
    };
  if (found.contact_id !== null && isMemberByHubspotAlone(found.holdings)) {
    const { address } = given;
    if (await askAboutMember(deps, { contactId: found.contact_id, address })) found = await find();
  }
  if (isMember(found.holdings, 'code'))
    return { status: 'failed', message: ALREADY_MEMBER, contactId: null, isMember: true };
  return { status: 'success', message: 'Your invitation was found.', contactId: found.contact_id };

  async function find(): Promise<FoundCode> {
    const { rows } = await sql<FoundCode>`
      select code, (select contact_id from person where id = person_id) as contact_id, coalesce(${HAS_EXPIRED}, false) as expired, ${isUsable(deps)} as is_usable,
        ${holdings('invitation.person_id')} as holdings,
        ${mayAttempt(deps, attempt)} as is_within
      from (select) as always left join invitation on code = ${code}`.execute(deps.database);
    return rows[0]!;
  }

  async function count(): Promise<CountedAttempt> {
    // The statement searches for the code once more, since a concurrent call may have stored it after the first search.
    const { rows } = await sql<CountedAttempt>`
      with ${countingAttempt(deps, attempt, sql<boolean>`exists (select from invitation where code = ${code} and ${isUsable(deps)})`)}
      select * from attempt`.execute(deps.database);
    return rows[0]!;
  }
}
