import { sql } from 'kysely';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { ELIGIBILITY_FAILED } from '#core/sentences.ts';
import type { Deps } from '../deps.ts';
import { countLimit, limitedCount, TOO_MANY } from '../http/limits.ts';
import { Refusal } from '../http/refusal.ts';
import { ALREADY_MEMBER } from '../membership/alreadyMember.ts';
import { askAboutMember } from '../session/askAboutMember.ts';
import { isMemberByMirrorAlone, isMemberNow } from '../session/isMemberNow.ts';

export interface Eligibility {
  status: 'success' | 'failed';
  message: string;
  /** Null for a school code. */
  contactId: string | null;
}

/** A code may be right and only its look-up held up: calling it invalid would turn an invited student away. */
const CANNOT_CHECK = 'We cannot check invite codes at this moment. Please try again in a minute.';

/**
 * Whether an invite code opens a join. An unknown or expired code is an answer, not a failure. Wrong codes are counted
 * by address; a code that is known costs one statement and no count, unless it leads to a member by HubSpot's word alone:
 * then HubSpot is asked anew.
 */
export async function checkEligibility(
  deps: Deps,
  given: { invitationCode: string; address: string },
): Promise<Eligibility> {
  const broken = inviteCodeError(given.invitationCode);
  if (broken) throw new Refusal(400, broken, { errors: { invitationCode: broken } });
  const code = normaliseInviteCode(given.invitationCode);
  const limit = deps.config.limits?.wrongCodesPerAddress;
  const key = deps.hashAddress(given.address);

  let found = await find();
  if (limit && found.wrong >= limit.count)
    throw new Refusal(429, TOO_MANY, { retryAfter: limit.minutes * 60 });
  if (!found.code) {
    const learned = await deps.contacts.learnCode(code);
    if (learned === 'unavailable') throw new Refusal(503, CANNOT_CHECK, { retryAfter: 5 });
    if (learned === 'known') found = await find();
  }

  if (!found.code || found.expired) {
    if (limit) await countLimit(deps.database, 'wrong_code', key, limit);
    return { status: 'failed', message: ELIGIBILITY_FAILED, contactId: null };
  }
  if (found.contact_id !== null && found.is_by_mirror_alone) {
    const { address } = given;
    if (await askAboutMember(deps, { contactId: found.contact_id, address })) found = await find();
  }
  if (found.is_member) return { status: 'failed', message: ALREADY_MEMBER, contactId: null };
  return { status: 'success', message: 'Your invitation was found.', contactId: found.contact_id };

  async function find() {
    const { rows } = await sql<{
      code: string | null;
      contact_id: string | null;
      expired: boolean;
      is_member: boolean;
      is_by_mirror_alone: boolean;
      wrong: number;
    }>`
      select invitation.code, invitation.contact_id, coalesce(invitation.expires_at <= now(), false) as expired,
        ${isMemberNow('invitation.contact_id')} as is_member, ${isMemberByMirrorAlone('invitation.contact_id')} as is_by_mirror_alone,
        ${limitedCount('wrong_code', key, limit)} as wrong
      from (select) as nothing
      left join invitation on invitation.code = ${code}`.execute(deps.database);
    return rows[0]!;
  }
}
