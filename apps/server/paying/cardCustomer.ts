import { sql } from 'kysely';
import { cleanText } from '#core/cleanText.ts';
import { providerEmail } from '#core/providerEmail.ts';
import { joinerEmails, type KnownEmails } from '#core/recipients.ts';
import { Declined } from '../providers/stripe/failures.ts';
import { knownEmails, shortName } from '../session/person.ts';
import { refusalFor } from '../session/standing.ts';
import { pauseSeconds } from './cardFailures.ts';
import type { Deps } from './deps.ts';
import { countingFailures } from './providerFailures.ts';

/** The card that paid for a membership, kept for the upgrade. */
export interface SavedCard {
  /**
   * The Stripe customer to whom the card is attached; null until it is attached, which takes a moment after the payment for the
   * membership.
   */
  customerId: string | null;
  paymentMethodId: string | null;
  email: string | null;
  name: string | null;
}

/**
 * Reads the saved card with the joiner's email and name, the number of failed calls to Stripe, and the seconds for which the join
 * must not try another card. The card of somebody who paid by a pay link is left out: it is never charged again.
 */
export async function readPayer(
  deps: Deps,
  uuid: string,
  paymentIntent: string,
): Promise<{ card: SavedCard; savesCard: boolean; failures: number; pause: number }> {
  const { rows } = await sql<{
    customer_id: string;
    payment_method_id: string | null;
    saves_card: boolean | null;
    known: KnownEmails;
    name: string | null;
    failures: number;
    pause: number;
  }>`
    select customer_id, case when not by_pay_link then payment_method_id end as payment_method_id, saves_card, ${knownEmails} as known,
      ${shortName} as name,
      provider_failures as failures, ${pauseSeconds(deps)} as pause
    from join_session session join payment on intent_id = ${paymentIntent} left join person on person.id = session.person_id
    where session.uuid = ${uuid}`.execute(deps.database);
  const { customer_id, payment_method_id, saves_card, known, name, ...counted } = rows[0]!;
  const card = {
    customerId: customer_id || null,
    paymentMethodId: payment_method_id,
    email: providerEmail(joinerEmails(known)),
    name: name && cleanText(name),
  };
  return { card, savesCard: saves_card === true, ...counted };
}

/**
 * Makes sure that the card that paid for the membership belongs to a customer at Stripe. A card that was saved without a customer
 * can be attached to a new customer afterwards (https://docs.stripe.com/api/payment_intents/create, setup_future_usage). The
 * idempotency key contains the join's uuid, so that repeated presses and crashes make only one customer.
 */
export async function ensureCustomer(
  deps: Deps,
  uuid: string,
  {
    customerId: known,
    paymentMethodId,
    email,
    name,
    paymentIntent,
    failures,
  }: SavedCard & { paymentIntent: string; failures: number },
): Promise<{ customerId: string } | { declined: string }> {
  if (known !== null) return { customerId: known };
  const create = () =>
    deps.payments.createCustomer({
      email,
      name,
      paymentMethodId: paymentMethodId!,
      sessionUuid: uuid,
      idempotencyKey: `${deps.environment}-${uuid}-customer-${failures}`,
    });
  try {
    const customerId = await countingFailures(
      deps,
      uuid,
      failures,
      // An earlier call that failed may still have created the customer.
      async () => (failures > 0 && (await deps.payments.customerOfCard(paymentMethodId!))) || create(),
    );
    if (await noteCustomer(deps, uuid, paymentIntent, customerId)) return { customerId };
    await deps.payments.deleteCustomer(customerId);
    throw await refusalFor(deps, 'upgrade', uuid);
  } catch (error) {
    // Stripe may ask the bank when it attaches the card to a customer, and the bank may decline.
    if (error instanceof Declined) return { declined: error.message };
    throw error;
  }
}

/** Records the customer. Returns false, and writes nothing, if the join was erased meanwhile. */
async function noteCustomer(
  { database }: Deps,
  uuid: string,
  paymentIntent: string,
  customerId: string,
): Promise<boolean> {
  const { rows } = await sql`
    with session as (select uuid from join_session where uuid = ${uuid} and erased_at is null for key share),
    noted as (
      update payment set customer_id = ${customerId} from session
      where intent_id = ${paymentIntent} and session_uuid = uuid and customer_id = ''
    )
    select from session`.execute(database);
  return rows.length > 0;
}

/**
 * Creates the customer while the member reads about the upgrade, so that buying the upgrade takes less time. A failure is only
 * logged: the purchase of the upgrade retries the creation and reports a failure.
 */
export function prepareCustomer(deps: Deps, uuid: string, paymentIntent: string): void {
  const prepare = async () => {
    const { card, savesCard, failures } = await readPayer(deps, uuid, paymentIntent);
    if (savesCard && card.paymentMethodId !== null && card.customerId === null)
      await ensureCustomer(deps, uuid, { ...card, paymentIntent, failures });
  };
  prepare().catch((error: unknown) =>
    deps.log.warn({ err: error }, 'the customer of a card was not made beforehand'),
  );
}
