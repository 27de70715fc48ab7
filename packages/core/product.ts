/** The product types of an order line (specification, section 3). */
export const productTypes = [
  'membership',
  'membership_upgrade',
  'donation',
  'donation_other',
  'store',
] as const;
export type ProductType = (typeof productTypes)[number];
export type MembershipType = Extract<ProductType, 'membership' | 'membership_upgrade'>;

/**
 * Whether a product is a membership or an upgrade. An order has at most one line of these two types together (specification,
 * section 4, checkout load).
 */
export function isMembershipType(type: ProductType): type is MembershipType {
  return type === 'membership' || type === 'membership_upgrade';
}

export function isDonationType(type: ProductType): boolean {
  return type === 'donation' || type === 'donation_other';
}
