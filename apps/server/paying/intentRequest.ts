import {
  identityMetadata,
  lineMetadata,
  orderDescription,
  payerMetadata,
  promisedMetadata,
} from '#core/intentText.ts';
import { providerEmail } from '#core/providerEmail.ts';
import { promised } from '../session/promised.ts';
import type { Deps } from './deps.ts';
import type { Order } from './readOrder.ts';

/**
 * Returns the parameters of a payment intent for an order: the amount, the metadata from which a lost order can be made again,
 * the receipt's email, and whether the card is saved. `payerName`: the name of somebody who pays by a pay link, whose card is not
 * saved; null if the joiner pays.
 */
export function intentRequest(
  deps: Deps,
  uuid: string,
  order: Order,
  email: string | null,
  payerName: string | null = null,
) {
  return {
    amountCents: order.totalCents,
    receiptEmail: email,
    saveCard: order.saveCard && payerName === null,
    description: orderDescription(deps.society.society.name, order.lines),
    metadata: {
      app: 'induct',
      environment: deps.environment,
      session: uuid,
      kind: 'join',
      revision: String(order.revision),
      ...identityMetadata(order.identity),
      ...(payerName !== null && payerMetadata(payerName, providerEmail(order.emails))),
      ...lineMetadata(order.lines),
      ...promisedMetadata(order.lines, promised(deps.society, order.identity.programme, order.lines)),
    },
  } as const;
}
