import { sql } from 'kysely';
import type { Holding } from '#core/holding.ts';
import { MOST_REVISIONS } from '#core/orderLine.ts';
import type { Deps } from '../deps.ts';
import { whileFrozen } from '../payments/settlePaying.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { ALREADY_MEMBER, isJoinerMember } from '../session/members.ts';
import { hasLine, lineOf, nextLine } from '../session/orderLines.ts';
import { refusalFor } from '../session/standing.ts';
import { stateAllows, transitions } from '../session/states.ts';

const isMember = isJoinerMember('join_session');
const NOT_ON_OFFER = 'This membership is not on offer. Please choose one of those shown.';

/** Adds a membership to the order, in place of another. Choosing the same one again changes nothing, not even its price. */
export async function setMembership(
  deps: Deps,
  uuid: string,
  holding: Holding,
  membershipId: number,
): Promise<void> {
  const product = deps.society.offer({ id: membershipId });
  if (product?.type !== 'membership') throw new Refusal(404, NOT_ON_OFFER);
  const isChosen = hasLine({ productId: product.id });
  const { programmes, defaultProgramme } = deps.society;
  // A join whose programme the society's file no longer has is shown the memberships of the default programme.
  const fits = sql<boolean>`${product.programme!} =
    case when programme = any(${Object.keys(programmes)}::text[]) then programme else ${defaultProgramme} end`;
  const choose = async () => {
    const { rows } = await sql<{ uuid: string }>`
      update join_session set
        ${transitions.chooseMembership},
        lines = case when ${isChosen} then lines
          else jsonb_build_array(${nextLine(lineOf(product, product.priceCents!))}) || jsonb_path_query_array(lines, '$[*] ? (!(@.type starts with "membership"))') end,
        revision = case when ${isChosen} then revision else revision + 1 end
      where uuid = ${uuid} and ${stateAllows('setMembership')} and revision < ${MOST_REVISIONS}
        and ${fits} and not ${isMember}
      returning uuid`.execute(deps.database);
    return rows[0];
  };
  if (await whileFrozen(deps, uuid, holding, choose)) return;
  const { rows } = await sql<{ programme_fits: boolean; is_member: boolean }>`
    select ${fits} as programme_fits, ${isMember} as is_member
    from join_session where uuid = ${uuid} and ${stateAllows('setMembership')}`.execute(deps.database);
  const [session] = rows;
  if (session && !session.programme_fits) throw new Refusal(404, NOT_ON_OFFER);
  if (session?.is_member) throw new Refusal(409, ALREADY_MEMBER);
  throw await refusalFor(deps, 'setMembership', uuid);
}
