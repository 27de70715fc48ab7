import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { displayMemberNumber, parseMemberNumber } from '#core/memberNumber.ts';
import { isHeld, type MembershipStanding } from '#core/refunds.ts';
import { countingWithin, TOO_MANY } from '../platform/http/limits.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dateOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { hasProgramme } from './member.ts';

/**
 * Finds out, in one statement, whether a typed number belongs to a membership, and whether that membership is still held. The
 * answer contains nothing about the person. Numbers that do not exist or are unlisted are counted by address. An address above
 * the limit is refused even valid numbers, so that a caller cannot tell valid numbers from invalid ones.
 */
export async function verifyNumber(
  deps: Deps,
  { typed, address }: { typed: string; address: string },
): Promise<Data<'verifyNumber'>> {
  const number = parseMemberNumber(typed);
  const limit = deps.config.limits?.wrongNumbersPerAddress;
  const isFound = sql<boolean>`exists (select from found)`;
  const { rows } = await sql<{
    is_within: boolean;
    standing: MembershipStanding | null;
    programme: string;
    succeeded_at: Date;
  }>`
    with found as (
      select standing, programme, succeeded_at
      from membership join join_session session on session.uuid = session_uuid join payment on intent_id = payment_intent
      where member_number = ${number} and not is_unlisted
    ), ${countingWithin('wrong_number', deps.hashAddress(address), limit, isFound)}
    select is_within, found.* from within left join found on true`.execute(deps.database);
  const { is_within, standing, programme, succeeded_at } = rows[0]!;
  if (!is_within) throw new Refusal(429, TOO_MANY, { retryAfter: limit!.minutes * 60 });
  if (standing === null || number === null) return { standing: 'unknown' };
  if (!isHeld(standing)) return { standing: 'ended' };
  return {
    standing: 'valid',
    number: displayMemberNumber(number),
    since: dateOf(deps.society, succeeded_at),
    society: deps.society.society.name,
    programme: hasProgramme(deps, programme) ? deps.society.programme(programme).name : null,
  };
}
