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

/** Whether a browser still holds its join after somebody has proven, in whatever browser, that they are the joiner. */
export const isSure = ({ proven, paid }: Holding): boolean => proven || paid;

/**
 * Whether a browser may continue a join. Any browser that knows the uuid may, until the join is paid or somebody has proven to be
 * the joiner. The browser that began the join may until somebody has proven that.
 */
export const isOpenIn = (holding: Holding, join: { isProven: boolean; isPaid: boolean }): boolean =>
  isSure(holding) || (!join.isProven && (holding.began || !join.isPaid));

/**
 * Whether this browser may charge the card that was saved for a join. The browser that paid may. So may the browser that began
 * the join, but only until somebody has proven that they are the joiner: a stranger who begins a join in another person's name
 * cannot charge that person's card.
 */
export function mayChargeCard({ began, paid }: Holding, join: { isProven: boolean }): boolean {
  return paid || (began && !join.isProven);
}
