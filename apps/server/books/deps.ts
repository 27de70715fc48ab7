/** Do our records, Stripe's and HubSpot's agree? Payments that nobody reported, the nightly comparison, the accountant's file. */
export type { Deps } from '../paying/deps.ts';
