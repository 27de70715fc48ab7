import type { TestContext } from 'node:test';
import { confirmPayment } from '../../apps/server/paying/confirmPayment.ts';
import { membershipsOf } from './rows.ts';
import { openIntent, payByCard } from './steps.ts';
import type { Client, TestServer } from './testServer.ts';

/**
 * Makes the API call of the button Upgrade Now. With `charge: false` in `more`, the server charges nothing, and returns what the
 * form for another card needs.
 */
export const charge = (client: Client, uuid: string, paymentIntent: string, more: object = {}) =>
  client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent, ...more } });
export const idOf = (clientSecret: string | undefined) => clientSecret!.split('_secret_')[0]!;
/** Returns the payments of a join's upgrade. */
export const chargesOf = async (server: TestServer, uuid: string) =>
  await server.deps.database
    .selectFrom('payment')
    .select(['amount_cents', 'status'])
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'upgrade')
    .execute();

/** Returns the id of the payment intent of a join's upgrade. */
export async function upgradeIntentOf(server: TestServer, uuid: string): Promise<string> {
  const { intent_id } = await server.deps.database
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'upgrade')
    .executeTakeFirstOrThrow();
  return intent_id;
}

/** During one test, runs `happens` right before the server makes this call to Stripe. */
export function beforeStripe(
  server: TestServer,
  t: TestContext,
  before: 'createIntent' | 'confirmWithSavedCard' | 'writeNotes',
  happens: () => Promise<unknown>,
): void {
  const { payments } = server.deps;
  const asks = payments[before] as (...given: unknown[]) => Promise<never>;
  Object.assign(payments, {
    async [before](...given: unknown[]) {
      await happens();
      return asks(...given);
    },
  });
  t.after(() => Object.assign(payments, { [before]: asks }));
}

/**
 * Makes a barrier for `count` callers. Each call of the returned function waits until the function has been called `count` times.
 */
export function gathering(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let come = 0;
  return () => {
    if (++come === count) resolve();
    return promise;
  };
}

interface Listed {
  amount: number;
  status: string;
  metadata: { session?: string };
}

/** Returns Stripe's intents for a join, whether or not our database has them. */
export async function intentsOf(server: TestServer, uuid: string): Promise<Listed[]> {
  const { body } = await server.stripe('GET', '/v1/payment_intents?limit=100');
  return (body as unknown as { data: Listed[] }).data.filter(({ metadata }) => metadata.session === uuid);
}

/** Returns the status of each attempt to charge an intent, the first attempt first. */
export async function attemptsOf(server: TestServer, intent: string): Promise<string[]> {
  const { body } = await server.stripe('GET', `/v1/charges?payment_intent=${intent}`);
  return (body as unknown as { data: Listed[] }).data.map(({ status }) => status).reverse();
}

/** Returns the types of membership that a join has bought, the membership first. */
export async function membershipTypesOf(server: TestServer, uuid: string): Promise<string[]> {
  return (await membershipsOf(server, uuid)).map(({ type }) => type).sort();
}

/**
 * Makes the bank decline, from now on, the card that paid for the membership, with the code `declines`; null makes it accept the
 * card.
 */
export async function declineSavedCard(
  server: TestServer,
  uuid: string,
  declines: string | null,
): Promise<void> {
  const { payment_method_id } = await server.deps.database
    .selectFrom('payment')
    .select('payment_method_id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'join')
    .executeTakeFirstOrThrow();
  await server.stripeControl(`payment_methods/${payment_method_id}`, { declines });
}

/** Replaces the saved card of a join's payments with another test card. */
export async function saveOtherCard(server: TestServer, uuid: string, card: string): Promise<void> {
  const customer = await server.stripe('POST', '/v1/customers', { payment_method: card });
  const { body } = await server.stripe('GET', `/v1/payment_methods?customer=${customer.body.id}`);
  const [method] = (body as unknown as { data: { id: string }[] }).data;
  await server.deps.database
    .updateTable('payment')
    .set({ customer_id: customer.body.id, payment_method_id: method!.id })
    .where('session_uuid', '=', uuid)
    .execute();
}

/** Buys an upgrade, or another product, by a link to a contact, in its own join. `items` adds store items. */
export async function upgradeByLink(
  server: TestServer,
  contactId: string,
  { productId = 10, items = [] as string[] } = {},
): Promise<{ client: Client; uuid: string; intentId: string }> {
  const client = server.client();
  const body = { hubspotContactId: contactId, mainProductId: productId };
  const uuid = (await client.call('initiateCheckout', { body })).data.joinSessionUuid;
  for (const productUuid of items)
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  const { id, revision } = await openIntent(client, uuid);
  await client.call('beginPayment', { params: { uuid }, body: { revision, agreeToPolicies: true } });
  await payByCard(server, id);
  await confirmPayment(server.deps, id);
  return { client, uuid, intentId: id };
}

/** Makes a paid membership by a link to a contact, in its own join. */
export const membershipByLink = (server: TestServer, contactId: string) =>
  upgradeByLink(server, contactId, { productId: 1 });
