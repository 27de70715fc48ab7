import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import type { PaidLine } from '#core/refunds.ts';
import { NO_PAYMENT_INTENT, UPGRADE_FAILED } from '#core/sentences.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../http/refusal.ts';
import { standingOf, whyNot } from '../join/standing.ts';
import { confirmPayment } from '../payments/confirmPayment.ts';
import type { CatalogueProduct } from '../society.ts';
import { Declined, type Intent } from '../stripe/provider.ts';

const NOT_OPEN = 'This upgrade is no longer on offer.';
const OTHER_BROWSER =
  'For your safety, an upgrade can only be bought in the browser that paid for the membership.';
const OTHER_PAYMENT = 'This payment does not belong to this join.';

type Answer = Data<'createUpgradeCharge'>;

/**
 * Charges the upgrade to the card that paid for the membership, with the member present, at the price shown. Pressed
 * again it goes on with the same intent: after the authentication in the page, after a lost answer, in a second tab.
 */
export async function chargeUpgrade(
  deps: Deps,
  uuid: string,
  { paymentIntent, isBrowserThatPaid }: { paymentIntent: string; isBrowserThatPaid: boolean },
): Promise<Answer> {
  if (paymentIntent === '') throw new Refusal(400, NO_PAYMENT_INTENT);
  const standing = await standingOf(deps, uuid);
  if (standing?.state !== 'paid') throw await whyNot(deps, 'upgrade', uuid);
  if (standing.paymentIntent !== paymentIntent) throw new Refusal(404, OTHER_PAYMENT);
  if (!isBrowserThatPaid) throw new Refusal(403, OTHER_BROWSER);

  const known = await deps.database
    .selectFrom('payment')
    .select(['kind', 'status', 'intent_id', 'attempt', 'customer_id', 'payment_method_id'])
    .where('session_uuid', '=', uuid)
    .execute();
  const earlier = known.filter(({ kind }) => kind === 'upgrade');
  if (earlier.some(({ status }) => status === 'succeeded')) return { status: 'succeeded' };
  const open = earlier.find(({ status }) => status === 'open');
  if (open) {
    const answer = await outcomeOf(deps, await deps.payments.retrieveIntent(open.intent_id), uuid);
    if (answer) return answer;
  }
  const offer = standing.upgrade;
  if (!offer) throw new Refusal(409, NOT_OPEN, { goOn: standing.goOn });
  const card = known.find(({ intent_id }) => intent_id === paymentIntent);
  if (!card?.payment_method_id) throw new Refusal(409, NOT_OPEN, { goOn: standing.goOn });
  const attempt = Math.max(0, ...earlier.map((payment) => payment.attempt)) + 1;
  return charge(deps, uuid, offer, attempt, {
    customerId: card.customer_id,
    paymentMethodId: card.payment_method_id,
  });
}

async function charge(
  deps: Deps,
  uuid: string,
  offer: CatalogueProduct,
  attempt: number,
  { customerId, paymentMethodId }: { customerId: string; paymentMethodId: string },
): Promise<Answer> {
  const amountCents = offer.price!;
  const items: PaidLine[] = [
    { productId: offer.id, type: offer.type, name: offer.name, priceCents: amountCents },
  ];
  // Before the charge: whatever happens next, it is known what was bought.
  await deps.database
    .insertInto('order_snapshot')
    .values({
      session_uuid: uuid,
      kind: 'upgrade',
      revision: attempt,
      amount_cents: amountCents,
      items: JSON.stringify(items),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { email } = await deps.database
    .selectFrom('join_session')
    .leftJoin('contact', 'contact.id', 'contact_id')
    .select(
      sql<
        string | null
      >`coalesce(details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email)`.as(
        'email',
      ),
    )
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  try {
    const intent = await deps.payments.chargeSavedCard({
      amountCents,
      customerId,
      paymentMethodId,
      receiptEmail: email,
      metadata: {
        app: 'induct',
        environment: deps.environment,
        session: uuid,
        kind: 'upgrade',
        revision: String(attempt),
      },
      // One key per session and attempt: two presses are one charge.
      idempotencyKey: `${deps.environment}-${uuid}-upgrade-${attempt}`,
    });
    await keep(deps, uuid, intent, attempt, customerId, 'open');
    return (await outcomeOf(deps, intent, uuid)) ?? { status: 'failed', message: UPGRADE_FAILED };
  } catch (error) {
    if (!(error instanceof Declined)) throw error;
    if (error.intentId)
      await keep(
        deps,
        uuid,
        await deps.payments.cancelIntent(error.intentId),
        attempt,
        customerId,
        'canceled',
      );
    return { status: 'failed', message: error.message };
  }
}

/** What an intent means for the page; null when it came to nothing and a new attempt may be made. */
async function outcomeOf(deps: Deps, intent: Intent, uuid: string): Promise<Answer | null> {
  switch (intent.status) {
    case 'succeeded':
      await confirmPayment(deps, intent.id);
      return { status: 'succeeded' };
    case 'processing':
      return { status: 'processing' };
    case 'requires_action':
      return { status: 'requires_action', clientSecret: intent.clientSecret };
    default: {
      if (intent.status !== 'canceled') await deps.payments.cancelIntent(intent.id);
      await deps.database
        .updateTable('payment')
        .set({ status: 'canceled', updated_at: sql`now()` })
        .where('intent_id', '=', intent.id)
        .where('session_uuid', '=', uuid)
        .where('status', '=', 'open')
        .execute();
      return null;
    }
  }
}

async function keep(
  deps: Deps,
  uuid: string,
  intent: Intent,
  attempt: number,
  customerId: string,
  status: 'open' | 'canceled',
): Promise<void> {
  await deps.database
    .insertInto('payment')
    .values({
      intent_id: intent.id,
      session_uuid: uuid,
      kind: 'upgrade',
      attempt,
      status,
      client_secret: intent.clientSecret,
      customer_id: customerId,
      amount_cents: intent.amountCents,
      revision: attempt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Skip is honoured: the offer does not come back. */
export async function skipUpgrade(deps: Deps, uuid: string): Promise<string> {
  await deps.database
    .updateTable('join_session')
    .set({ upgrade: 'skipped', updated_at: sql`now()` })
    .where('uuid', '=', uuid)
    .where('state', '=', 'paid')
    .where('upgrade', '=', 'open')
    .execute();
  const standing = await standingOf(deps, uuid);
  if (standing?.state !== 'paid') throw await whyNot(deps, 'skipUpgrade', uuid);
  return standing.goOn;
}
