import type { Deps as CrmDeps } from '../crm/deps.ts';
import type { PaymentProvider } from '../providers/stripe/provider.ts';

export interface Deps extends CrmDeps {
  payments: PaymentProvider;
}
