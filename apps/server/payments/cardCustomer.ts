import { sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { Declined } from '../providers/stripe/failures.ts';
import { payerEmails, receiptEmail, shortName } from '../session/person.ts';
import { refusalFor } from '../session/standing.ts';
import { pauseSeconds } from './cardFailures.ts';
import { countingFailures } from './providerFailures.ts';

/** The card that paid for a membership, kept for the upgrade. */
export interface SavedCard {
  /** Null: nobody's yet, as since it paid for the membership. */
  customerId: string | null;
  paymentMethodId: string | null;
  email: string | null;
  name: string | null;
}

/** Who pays, how often Stripe failed, and for how many seconds no card may be tried. */
export async function readPayer(
  deps: Deps,
  uuid: string,
  paymentIntent: string,
): Promise<{ card: SavedCard; savesCard: boolean; failures: number; pause: number }> {
  const { rows } = await sql<{
    customer_id: string;
    payment_method_id: string | null;
    saves_card: boolean | null;
    emails: (string | null)[];
    name: string | null;
    failures: number;
    pause: number;
  }>`
    select customer_id, payment_method_id, saves_card, ${payerEmails} as emails,
      ${shortName} as name,
      provider_failures as failures, ${pauseSeconds(deps)} as pause
    from join_session session join payment on intent_id = ${paymentIntent} left join contact on contact.id = contact_id
    where session.uuid = ${uuid}`.execute(deps.database);
  const { customer_id, payment_method_id, saves_card, emails, name, ...counted } = rows[0]!;
  const card = {
    customerId: customer_id || null,
    paymentMethodId: payment_method_id,
    email: receiptEmail(emails),
    name,
  };
  return { card, savesCard: saves_card === true, ...counted };
}

/**
 * Stripe's customer to whom the card belongs that paid for the membership, made with the card in it: a card that was kept
 * without a customer can be given to one afterwards
 * (https://docs.stripe.com/api/payment_intents/create, setup_future_usage). The key is the join's, so however many presses and
 * crashes there are, there is one.
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
      // A try that failed may have made one all the same.
      async () => (failures > 0 && (await deps.payments.customerOfCard(paymentMethodId!))) || create(),
    );
    if (await noteCustomer(deps, uuid, paymentIntent, customerId)) return { customerId };
    await deps.payments.deleteCustomer(customerId);
    throw await refusalFor(deps, 'upgrade', uuid);
  } catch (error) {
    // Stripe may ask the bank when a card is kept.
    if (error instanceof Declined) return { declined: error.message };
    throw error;
  }
}

/** False when the join was erased meanwhile: nothing is noted then. */
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
 * Makes the customer while the member reads what the upgrade is, so that buying it does not wait for that; servers of the
 * version before need it, too. What fails here is tried again when the upgrade is bought, and is told then.
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
