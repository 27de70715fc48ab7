import { isWaiting, parcelOf } from '../../membership/orders.ts';
import type { Deps } from '../deps.ts';
import { followPayment } from './followPayment.ts';

/**
 * Reads from Stripe the refunds and disputes of the payments for goods that wait to be sent, because the latest ones may not be
 * recorded here yet. Returns null or, if Stripe does not answer, the ids of these payments.
 */
export async function askWhatWentBack(deps: Deps, uuid: string): Promise<string[] | null> {
  const goods = (await parcelOf(deps.database, deps.society, uuid))?.goods ?? [];
  const intents = [...new Set(goods.filter(isWaiting).map(({ intentId }) => intentId))];
  try {
    for (const intentId of intents) await followPayment(deps, intentId);
    return null;
  } catch (error) {
    deps.log.warn({ err: error }, 'Stripe could not be asked what went back');
    return intents;
  }
}
