/** The kinds of product that a join can hold (specification, section 3). */
export const productTypes = [
  'membership',
  'membership_upgrade',
  'donation',
  'donation_other',
  'store',
] as const;
export type ProductType = (typeof productTypes)[number];
export type MembershipType = Extract<ProductType, 'membership' | 'membership_upgrade'>;

/** Membership and membership_upgrade fill the one membership line of an order (specification, section 4, checkout load). */
export function isMembershipType(type: ProductType): type is MembershipType {
  return type === 'membership' || type === 'membership_upgrade';
}

export function isDonationType(type: ProductType): boolean {
  return type === 'donation' || type === 'donation_other';
}
