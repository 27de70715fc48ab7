/** How a browser holds a join, as its cookie says. */
export interface Holding {
  /** This browser began the join. */
  began: boolean;
  /** The browser's user has proven to be the joiner. */
  proven: boolean;
  /** This browser came back from the payment. */
  paid: boolean;
}

/** A join that a browser holds. */
export interface HeldJoin extends Holding {
  uuid: string;
}

/** Whether a browser still holds its join after somebody has proven to be the joiner in another browser. */
export const isSure = ({ proven, paid }: Holding): boolean => proven || paid;

/** Whether a join may continue in a browser. Until somebody has proven to be its joiner, knowing its uuid is enough. */
export const isOpenIn = (holding: Holding, join: { isProven: boolean }): boolean =>
  !join.isProven || isSure(holding);

/**
 * Whether this browser may charge the card that was saved for a join. The browser that paid may; the browser that began the join
 * may until somebody has proven to be the joiner. So a person who begins a join in another person's name cannot charge that
 * person's card.
 */
export function mayChargeCard({ began, paid }: Holding, join: { isProven: boolean }): boolean {
  return paid || (began && !join.isProven);
}
