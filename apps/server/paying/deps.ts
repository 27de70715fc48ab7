import type { Deps as CrmDeps } from '../crm/deps.ts';
import type { PaymentProvider } from '../providers/stripe/provider.ts';

/** How is a join's money taken, and given back? The intent, the bank's return, the webhook, the upgrade, refunds. */
export interface Deps extends CrmDeps {
  payments: PaymentProvider;
}
