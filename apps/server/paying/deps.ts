import type { Deps as CrmDeps } from '../crm/deps.ts';
import type { PaymentProvider } from '../providers/stripe/provider.ts';

/**
 * What `paying` depends on. Its question: how is a join paid and refunded? Intents, the return from the bank, the webhook,
 * upgrades, refunds.
 */
export interface Deps extends CrmDeps {
  payments: PaymentProvider;
}
