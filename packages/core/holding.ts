import type { JoinSessionState } from './joinSession.ts';

/** How a browser holds a join, according to its cookie. */
export interface Holding {
  /** Whether this browser began the join. */
  began: boolean;
  /** Whether this browser's user has proven that they are the joiner. */
  proven: boolean;
  /** Whether this browser returned from paying for the join. */
  paid: boolean;
}

/** A join in a browser's cookie, and how the browser holds it. */
export interface HeldJoin extends Holding {
  uuid: string;
}

/** Whether a browser still holds its join after somebody has proven, in any browser, that they are the joiner. */
export const isSure = ({ proven, paid }: Holding): boolean => proven || paid;

/** The facts about a join that decide what a browser may do with it and see of it. */
export interface JoinAccess {
  state: JoinSessionState;
  /** Whether somebody has proven, in any browser, that they are the joiner. */
  isProven: boolean;
  /** How the join began; `checkout`: by a checkout link of staff. */
  origin: string;
}

/**
 * Whether a browser holds a join, and may see its private data: its user has paid for the join or has proven to be the joiner. Until
 * somebody has proven that, the browser that began the join holds it as well (docs/decisions/0010).
 */
export const isHeldIn = (holding: Holding, { isProven }: Pick<JoinAccess, 'isProven'>): boolean =>
  isSure(holding) || (holding.began && !isProven);

/**
 * Whether a browser may continue a join. Any browser that knows the uuid may, until the join is paid or somebody has proven to be
 * the joiner.
 */
export const isOpenIn = (holding: Holding, join: Pick<JoinAccess, 'isProven' | 'state'>): boolean =>
  isHeldIn(holding, join) || (join.state !== 'paid' && !join.isProven);

/**
 * Whether a browser that may continue a join is shown the joiner's data. Staff may send a checkout link to somebody who pays for
 * the joiner. Until the user of the link has proven to be the joiner, they see only the joiner's first name and an initial, even
 * after paying (docs/decisions/0010).
 */
export const seesJoiner = ({ proven }: Holding, { origin }: Pick<JoinAccess, 'origin'>): boolean =>
  proven || origin !== 'checkout';

/**
 * Whether this browser may buy the upgrade, which charges the card that paid for the join. The browser that paid may. So may the
 * browser that began the join, but only until somebody has proven that they are the joiner: a stranger who begins a join in another
 * person's name cannot charge that person's card. If somebody else paid (`byPayLink`), their card is never charged again, and every
 * browser that holds the join may buy the upgrade with another card.
 */
export function mayBuyUpgrade(holding: Holding, join: { isProven: boolean; byPayLink: boolean }): boolean {
  if (join.byPayLink) return isHeldIn(holding, join);
  return holding.paid || (holding.began && !join.isProven);
}
