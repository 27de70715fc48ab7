import { sql } from 'kysely';
import type { ParsedBody } from '#contract/schemas.ts';
import type { Holding } from '#core/holding.ts';
import { MOST_REVISIONS, type OpenLine } from '#core/orderLine.ts';
import type { Deps } from '../deps.ts';
import { whileFrozen } from '../payments/settlePaying.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { isOpenTo } from '../session/holding.ts';
import { alreadyMember, isJoinerMember } from '../session/members.ts';
import { hasLine, lineOf, nextLine, priceIsNow } from '../session/orderLines.ts';
import { refusalFor } from '../session/standing.ts';
import { stateAllows, transitions } from '../session/states.ts';

const isMember = isJoinerMember('join_session');
const NOT_ON_OFFER = 'This membership is not on offer. Please choose one of those shown.';

/**
 * Adds a membership to the order, in place of another, at its present price. The page may send the price on its screen (`amount`,
 * cents); if the line has another price, that is refused. Choosing the same membership a second time changes nothing, not even
 * its price.
 */
export async function setMembership(
  deps: Deps,
  uuid: string,
  holding: Holding,
  { membershipId, amount }: ParsedBody<'setMembership'>,
): Promise<void> {
  const product = deps.society.offer({ id: membershipId });
  if (product?.type !== 'membership') throw new Refusal(404, NOT_ON_OFFER);
  const isChosen = hasLine({ productId: product.id });
  const priceCents = product.priceCents!;
  const isAsShown = amount === null || amount === priceCents;
  const { programmes, defaultProgramme } = deps.society;
  // A join whose programme the society's file no longer has is shown the memberships of the default programme.
  const fits = sql<boolean>`${product.programme!} =
    case when programme = any(${Object.keys(programmes)}::text[]) then programme else ${defaultProgramme} end`;
  const choose = async () => {
    const { rows } = await sql<{ lines: OpenLine[] }>`
      update join_session set
        ${transitions.chooseMembership},
        lines = case when ${isChosen} then lines
          else jsonb_build_array(${nextLine(lineOf(product, priceCents))}) || jsonb_path_query_array(lines, '$[*] ? (!(@.type starts with "membership"))') end,
        revision = case when ${isChosen} then revision else revision + 1 end
      where uuid = ${uuid} and ${stateAllows('setMembership')} and ${isOpenTo(holding)} and revision < ${MOST_REVISIONS}
        and ${fits} and not ${isMember} and (${isAsShown} or ${isChosen})
      returning lines`.execute(deps.database);
    return rows[0];
  };
  const order = await whileFrozen(deps, uuid, holding, choose);
  if (order) {
    const line = order.lines.find(({ productId }) => productId === product.id)!;
    // The order already had the membership, at an earlier price or at the price in a checkout link.
    if (amount !== null && amount !== line.priceCents)
      throw new Refusal(409, priceIsNow(product, line.priceCents));
    return;
  }
  const { rows } = await sql<{ programme_fits: boolean; is_member: boolean }>`
    select ${fits} as programme_fits, ${isMember} as is_member
    from join_session where uuid = ${uuid} and ${stateAllows('setMembership')} and ${isOpenTo(holding)}`.execute(
    deps.database,
  );
  const [session] = rows;
  if (session && !session.programme_fits) throw new Refusal(404, NOT_ON_OFFER);
  if (session?.is_member) throw alreadyMember();
  const changed = isAsShown ? {} : { otherwise: priceIsNow(product, priceCents) };
  throw await refusalFor(deps, 'setMembership', uuid, { holding, ...changed });
}
