/**
 * What `books` depends on. Its question: do our records agree with Stripe's and HubSpot's? Payments that nobody reported, the
 * nightly comparison, the accountant's file.
 */
export type { Deps } from '../paying/deps.ts';
