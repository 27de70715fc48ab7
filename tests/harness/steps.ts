import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Client, TestServer } from './testServer.ts';

/** Returns valid student details. `change` replaces some of them. */
export function details(change: Partial<StudentDetails> = {}): StudentDetails {
  const year = String(new Date().getFullYear());
  return {
    firstName: 'Jordan',
    middleName: '',
    lastName: 'Rivera',
    address1: '12 Oak Street',
    address2: '',
    city: 'Austin',
    state: 'Texas',
    zipcode: '78701',
    country: 'United States',
    personalEmail: 'jordan.rivera@example.com',
    schoolEmail: '',
    agreeToPolicies: true,
    highSchoolName: 'Austin High School',
    highSchoolGraduationYear: year,
    highSchoolGpa: '3.8',
    ...change,
  };
}

/** Starts a join with an invite code. The join is then in the state `started`. Returns its uuid. */
export async function startJoin(client: Client, code = 'HONOR101'): Promise<string> {
  const checked = await client.call('checkEligibility', { body: { invitationCode: code } });
  const { contactId } = checked.data;
  const started = contactId
    ? await client.call('initiateJoin', { body: { contactId, invitationCode: code, isTOLA: true } })
    : await client.call('initiateSchoolJoin', { body: { invitationCode: code } });
  return started.data.uuid;
}

/**
 * Makes a join with an open order: its details are submitted and a membership is chosen. By default it starts with a school's code,
 * so that tests share no contact. `person` replaces some details; if two joins with the same details are paid, staff get a notice.
 */
export async function orderingJoin(
  client: Client,
  code = 'LINCOLN2026',
  person: Partial<StudentDetails> = {},
): Promise<string> {
  const uuid = await startJoin(client, code);
  await client.call('submitDetails', { params: { uuid }, body: details(person) });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  return uuid;
}

/**
 * Makes a self-nomination with an open order, by default of the high-school programme. `items` are the uuids of store items and
 * donations in the order. Returns its uuid.
 */
export async function nominatedOrder(
  client: Client,
  {
    isTOLA = true,
    membershipId = 1,
    items = [],
    person = {},
  }: {
    isTOLA?: boolean;
    membershipId?: number;
    items?: readonly string[];
    person?: Partial<StudentDetails>;
  } = {},
): Promise<string> {
  const body = { hasConfirmedEligibility: true, isTOLA } as const;
  const { uuid } = (await client.call('initiateSelfNomination', { body })).data;
  const params = { uuid };
  assert.equal((await client.call('submitDetails', { params, body: details(person) })).status, 200);
  await client.call('setMembership', { params, body: { membershipId } });
  for (const productUuid of items) await client.call('setSessionProduct', { params, body: { productUuid } });
  return uuid;
}

export async function openIntent(
  client: Client,
  uuid: string,
): Promise<{ id: string; clientSecret: string; revision: number; amount: number }> {
  const { products } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  const amount = Math.round(products.reduce((sum, { price }) => sum + Number(price), 0) * 100);
  const body = { amount, currency: 'usd', billingEmail: 'jordan.rivera@example.com' };
  const { data } = await client.call('createPaymentIntent', { params: { uuid }, body });
  return { ...data, id: data.clientSecret.split('_secret_')[0]! };
}

/** Requests the payment intent of an order, like a page that shows this total (cents). */
export function askIntent(client: Client, uuid: string, amount = 6500) {
  const body = { amount, currency: 'usd', billingEmail: '' };
  return client.call('createPaymentIntent', { params: { uuid }, body });
}

/** Returns the status of an intent at Stripe. */
export async function statusAtStripe(server: TestServer, intentId: string): Promise<string> {
  return (await server.stripe('GET', `/v1/payment_intents/${intentId}`)).body.status as unknown as string;
}

/** Freezes the order at a revision, as the page does right before it confirms the card. */
export function beginPayment(client: Client, uuid: string, revision: number) {
  return client.call('beginPayment', { params: { uuid }, body: { revision } });
}

/** Confirms the intent with a card, as Stripe.js does in the browser. */
export function payByCard(server: TestServer, intentId: string, card = 'pm_card_visa') {
  return server.stripe('POST', `/v1/payment_intents/${intentId}/confirm`, {
    payment_method: card,
    return_url: `${server.url}/registration/post-payment`,
  });
}

/** Reports the payment, as the return page does. */
export function reportPayment(
  client: Client,
  uuid: string,
  { id, clientSecret }: { id: string; clientSecret: string },
  redirectStatus = 'succeeded',
) {
  return client.call('postPayment', {
    params: { uuid },
    body: { paymentIntent: id, paymentIntentClientSecret: clientSecret, redirectStatus },
  });
}

interface Paid {
  uuid: string;
  intentId: string;
  clientSecret: string;
}

/** Makes the server ask Stripe about every payment again, as if a second had passed since it last did. */
export async function secondLater({ deps }: TestServer): Promise<void> {
  await sql`update payment set looked_at = null`.execute(deps.database);
}

/** Makes a paid join. Returns its session and payment intent. */
export async function paidJoin(
  server: TestServer,
  client: Client,
  code?: string,
  person?: Partial<StudentDetails>,
): Promise<Paid> {
  return payOrder(server, client, await orderingJoin(client, code, person));
}

/**
 * Pays an open order and reports the payment, like a joiner who agrees to the policies and, if asked, confirms that this
 * membership is for somebody else. Throws if a step is refused.
 */
export async function payOrder(server: TestServer, client: Client, uuid: string): Promise<Paid> {
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true, isForAnother: true };
  const begun = await client.call('beginPayment', { params: { uuid }, body });
  assert.equal(begun.status, 200, begun.message!);
  const paid = await payByCard(server, intent.id);
  assert.equal(paid.status, 200, JSON.stringify(paid.body));
  const { status, data, message } = await reportPayment(client, uuid, intent);
  assert.equal(status, 200, message!);
  assert.equal(data.status, 'succeeded');
  return { uuid, intentId: intent.id, clientSecret: intent.clientSecret };
}

/** Makes an order in a new browser, as {@link orderingJoin} does. */
export async function newOrder(server: TestServer, code?: string, person?: Partial<StudentDetails>) {
  const client = server.client();
  return { client, uuid: await orderingJoin(client, code, person) };
}

/** Makes an order in a new browser, and opens its payment intent. */
export async function newIntent(server: TestServer, code?: string, person?: Partial<StudentDetails>) {
  const { client, uuid } = await newOrder(server, code, person);
  return { client, uuid, intent: await openIntent(client, uuid) };
}

/** Makes a paid join in a new browser. */
export async function newMember(server: TestServer, code?: string, person?: Partial<StudentDetails>) {
  const client = server.client();
  return { client, ...(await paidJoin(server, client, code, person)) };
}

/** Returns the lines of a join's order as Checkout shows them: type and price. */
export async function orderLines(client: Client, uuid: string): Promise<[string, string][]> {
  const { data } = await client.call('getCheckoutDetails', { params: { uuid } });
  return data.products.map(({ productType, price }) => [productType, price]);
}
