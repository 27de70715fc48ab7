import type { Data } from '#contract/schemas.ts';
import { type Holding, mayBuyUpgrade } from '#core/holding.ts';
import { screenAfterUpgrade } from '#core/joinSession.ts';
import { shortPrice } from '#core/money.ts';
import { standingFor } from '../session/standing.ts';
import { fillIn } from '../society/texts.ts';
import { toWireProduct } from '../society/wire.ts';
import type { Deps } from './deps.ts';

/**
 * Returns the data of the upgrade screen: the offer, and the saved card that would be charged. If somebody else paid for the
 * join, there is no card. Only a browser that may buy the upgrade gets an offer.
 */
export async function upgradeDetails(
  deps: Deps,
  uuid: string,
  holding: Holding,
): Promise<Data<'getUpgradeDetails'>> {
  const standing = await standingFor(deps, 'readUpgrade', uuid, holding);
  const payment = await deps.database
    .selectFrom('payment')
    .leftJoin('order_snapshot as snapshot', (join) =>
      join
        .onRef('snapshot.session_uuid', '=', 'payment.session_uuid')
        .onRef('snapshot.kind', '=', 'payment.kind')
        .onRef('snapshot.revision', '=', 'payment.revision'),
    )
    .select(['card_brand', 'card_last4', 'payment_method_id', 'processing_fee_cents'])
    .where('intent_id', '=', standing.paymentIntent ?? '')
    .executeTakeFirst();
  const { byPayLink } = standing;
  const hasCard = byPayLink || payment?.payment_method_id;
  const offer = mayBuyUpgrade(holding, standing) && hasCard ? standing.upgrade : null;
  const { pages, upgradeRefund, processingFeeCents } = deps.society.programme(standing.programme);
  const fee = shortPrice(payment?.processing_fee_cents ?? processingFeeCents);
  const fill = (text: string) => fillIn(text, deps.society, standing.programme, { fee });
  return {
    upgradeOption: offer ? toWireProduct(offer) : null,
    isEligibleForUpgrade: offer !== null,
    isSelfNomination: standing.isSelfNomination,
    features: (offer?.features ?? []).map((description, index) => ({ id: index + 1, description })),
    congratulationsHeader: fill(pages.congratulationsHeader),
    congratulationsSubheader: fill(pages.congratulationsSubheader),
    upgradeHeader: fill(pages.upgradeHeader),
    upgradeSubheader: fill(pages.upgradeSubheader),
    card:
      offer && !byPayLink && payment?.card_last4
        ? { brand: payment.card_brand ?? 'Card', last4: payment.card_last4 }
        : null,
    needsCard: offer !== null && byPayLink,
    refundNote: fill(upgradeRefund),
    goOn: screenAfterUpgrade(standing.owesTranscript),
  };
}
