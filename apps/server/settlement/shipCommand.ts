import { cleanText } from '#core/cleanText.ts';
import type { Deps } from '../deps.ts';
import { readSubject, said } from '../fulfilment/commands.ts';
import { isWaiting, parcelOf } from '../fulfilment/orders.ts';
import { shipOrder } from '../fulfilment/shipOrder.ts';
import { type Command, misused, notId, readArgs } from '../platform/command.ts';
import { followPayment } from '../refunds/followPayment.ts';

const ordersShipOptions = {
  item: { type: 'string' },
  note: { type: 'string' },
  unasked: { type: 'boolean', default: false },
} as const;

export const ordersShipCommand: Command = {
  options: ordersShipOptions,
  usage: 'orders ship JOIN [--item PRODUCT_ID,PRODUCT_ID] [--note TEXT] [--unasked]',
  summary:
    'Say that all that is open of a join was sent, or only these products, with a note such as a tracking number. What is held is sent only when it is named. Asked twice, sent once. Stripe is first asked what went back; --unasked does not ask it.',
  async run(args, { deps }) {
    const read = readArgs(args, ordersShipOptions);
    const asked = read && readSubject(read.positionals, read.values.item);
    if (!asked) return misused(ordersShipCommand, notId('join', read?.positionals[0]));
    const note = cleanText(read.values.note ?? '') || null;
    if (!read.values.unasked && !(await hasAskedStripe(deps, asked.uuid))) return 1;
    return said('sent', async () =>
      shipOrder(deps, asked.uuid, { items: asked.items, note, by: deps.config.operatorName }),
    );
  },
};

/**
 * Takes in from Stripe what went back of a join's payments, since a refund or dispute of the last minute may not be known here yet.
 * If Stripe does not answer, prints that and what to do, and returns false.
 */
async function hasAskedStripe(deps: Deps, uuid: string): Promise<boolean> {
  const goods = (await parcelOf(deps.database, deps.society, uuid))?.goods ?? [];
  const intents = [...new Set(goods.filter(isWaiting).map(({ intentId }) => intentId))];
  try {
    for (const intentId of intents) await followPayment(deps, intentId);
    return true;
  } catch (error) {
    deps.log.warn({ err: error }, 'Stripe could not be asked what went back');
    console.error(
      `Nothing was recorded: Stripe did not say whether the payment was refunded or disputed. Try again in a minute. If that does not help, look at ${intents.join(' and ')} in Stripe's dashboard. If nothing went back there, repeat the command with --unasked.`,
    );
    return false;
  }
}
