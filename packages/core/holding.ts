/** How a browser holds a join, as its cookie says. */
export interface Holding {
  /** It began the join. */
  began: boolean;
  /** Its user has proven to be the joiner. */
  proven: boolean;
  /** It came back from the payment. */
  paid: boolean;
}

/** A join that a browser holds. */
export interface HeldJoin extends Holding {
  uuid: string;
}

/** Who has proven to be the joiner, or paid, holds a join whoever proves it elsewhere. */
export const isSure = ({ proven, paid }: Holding): boolean => proven || paid;

/** Whether a join goes on in a browser: until a proof its uuid is enough. */
export const isOpenIn = (holding: Holding, join: { isProven: boolean }): boolean =>
  !join.isProven || isSure(holding);

/**
 * Whether the card that was saved for a join may be charged from a browser: from the one that paid. The one that began the join
 * counts as that until somebody has proven to be its joiner: who begins a join in somebody's name charges no card of theirs.
 */
export function mayChargeCard({ began, paid }: Holding, join: { isProven: boolean }): boolean {
  return paid || (began && !join.isProven);
}
