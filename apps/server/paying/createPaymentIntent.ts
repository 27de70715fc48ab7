import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { Holding } from '#core/holding.ts';
import { providerEmail } from '#core/providerEmail.ts';
import { promised, promisedColumns } from '../session/promised.ts';
import { refusalFor } from '../session/standing.ts';
import { stateAllows } from '../session/states.ts';
import { beginChange, changeIntent, endChange, replace, replaceOther } from './changeIntent.ts';
import type { Deps } from './deps.ts';
import { openIntent } from './openIntent.ts';
import { beingPaid, type Order, readOrder, totalChanged } from './readOrder.ts';
import { settlePaying } from './settlePaying.ts';

/**
 * CHANGE_PATIENCE_MS: how long (ms) an update of the intent may run before it is given up. LOOK_MS: how long (ms) a caller that
 * waits for the end of an update pauses before it reads the order again.
 */
const CHANGE_PATIENCE_MS = 3_000;
const LOOK_MS = 50;
const MOST_ROUNDS = 20;

/**
 * Returns the session's only open payment intent, for the present order. The intent is created when it is first needed, and then
 * reused. If the order, the goods and fee that it promises, or the receipt's email change, the intent is updated and keeps its
 * client secret. The caller's amount is only compared: throws 409 if it differs.
 */
export async function createPaymentIntent(
  deps: Deps,
  uuid: string,
  given: { amount: number; billingEmail: string; holding: Holding },
): Promise<Data<'createPaymentIntent'>> {
  const waitsUntil = performance.now() + CHANGE_PATIENCE_MS;
  for (let round = 1; ; round++) {
    const order = await readOrder(deps, uuid, given.holding);
    if (given.amount !== order.totalCents) throw totalChanged(order.totalCents);
    const email = providerEmail([...order.emails, given.billingEmail]);
    const { open, change } = order;
    if (open?.byPayLink) {
      if (order.state === 'paying' && (await settlePaying(deps, uuid, 'change')) === 'paying')
        throw beingPaid();
      // The payer who used the pay link has left, or their card was declined. If they try again, they get another intent.
      if (order.state !== 'paying') await replaceOther(deps, uuid, order, open.intentId);
      continue;
    }
    const isPromisedAnew = (!open || order.state !== 'paying') && (await keepSnapshot(deps, uuid, order));
    const isReady =
      !isPromisedAnew &&
      open?.revision === order.revision &&
      open.amountCents === order.totalCents &&
      open.email === email &&
      open.savesCard === order.saveCard;
    if (open && (order.state === 'paying' || (isReady && !change)))
      return { clientSecret: open.clientSecret, revision: open.revision, amount: open.amountCents };
    if (!open) {
      // The running change was of an intent that has ended, so the mark of the change is removed.
      if (change) await endChange(deps, uuid, change.mark);
      const intent = await openIntent(deps, uuid, order, email);
      return { clientSecret: intent.clientSecret, revision: order.revision, amount: order.totalCents };
    }
    if (change) {
      // Another tab is changing the intent, which usually takes only a moment.
      if (change.ms < CHANGE_PATIENCE_MS && performance.now() < waitsUntil) await pause(LOOK_MS);
      else await replace(deps, uuid, open.intentId, change.mark);
      continue;
    }
    const mark = await beginChange(deps, uuid, order.revision);
    if (mark !== null) {
      if (await changeIntent(deps, uuid, order, { intentId: open.intentId, mark, email }))
        return { clientSecret: open.clientSecret, revision: order.revision, amount: order.totalCents };
    } else if (round > MOST_ROUNDS) throw await refusalFor(deps, 'changeOrder', uuid);
  }
}

/**
 * Saves the snapshot of the order's revision. If the revision already has a snapshot, only its goods and processing fee are
 * updated, to those that Checkout shows now, unless a payment has begun. Returns whether anything was written: if so, the caller
 * must update the intent's metadata.
 */
export async function keepSnapshot(deps: Deps, uuid: string, order: Order): Promise<boolean> {
  const beside = promisedColumns(promised(deps.society, order.identity.programme, order.lines));
  const { numInsertedOrUpdatedRows } = await deps.database
    .insertInto('order_snapshot')
    .values({
      session_uuid: uuid,
      kind: 'join',
      revision: order.revision,
      amount_cents: order.totalCents,
      items: JSON.stringify(order.lines),
      ...beside,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['session_uuid', 'kind', 'revision'])
        .doUpdateSet(beside)
        .where(
          sql<boolean>`(order_snapshot.goods, order_snapshot.processing_fee_cents) is distinct from (excluded.goods, excluded.processing_fee_cents)
            and exists (select from join_session where uuid = ${uuid} and ${stateAllows('changeOrder')})`,
        ),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows !== 0n;
}
