import type { ParsedBody } from '#contract/schemas.ts';
import type { Holding } from '#core/holding.ts';
import { withMembership } from '#core/orderLine.ts';
import { isMember } from '#core/people.ts';
import { changeLines } from '../paying/changeLines.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { alreadyMember } from '../session/members.ts';
import { lineOf, priceIsNow } from '../session/orderLines.ts';
import type { Deps } from './deps.ts';

const NOT_ON_OFFER = 'This membership is not available. Please choose one of those shown.';

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
  const { programmes, defaultProgramme } = deps.society;
  await changeLines(deps, 'setMembership', { uuid, holding }, (order) => {
    // A join whose programme the society's file no longer has is shown the memberships of the default programme.
    const programme = Object.hasOwn(programmes, order.programme) ? order.programme : defaultProgramme;
    if (product.programme !== programme) throw new Refusal(404, NOT_ON_OFFER);
    if (isMember(order.joiner, 'joiner')) throw alreadyMember();
    // A membership that the order already has keeps its price: an earlier one, or that of a checkout link.
    const chosen = order.lines.find(({ productId }) => productId === product.id);
    const priceCents = chosen?.priceCents ?? product.priceCents!;
    if (amount !== null && amount !== priceCents) throw new Refusal(409, priceIsNow(product, priceCents));
    return chosen ? order.lines : withMembership(order, lineOf(product, priceCents));
  });
}
