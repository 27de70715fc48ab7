import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallName, DownloadName } from '#contract/calls.ts';
import { noContact } from '#core/contact.ts';
import { PROVE_FIRST } from '#core/pass.ts';
import { type Join, ofJoins, proveByCode } from '../../../tests/harness/joinCalls.ts';
import { openIntent, payByCard, reportPayment } from '../../../tests/harness/steps.ts';
import { type Client, limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { readLetter } from '../letters/takeLetter.ts';
import { LINK_INVALID } from './links.ts';

/** What the holder of a checkout link is told of the person for whom it pays, before and after they have proven to be that person. */
const server = await sharedServer();
const { deps } = server;

/** The contact of the link. The browser that pays for it may learn the first name and the initial of the last one. */
const CONTACT = '101';
// Not within an id, which may hold any digits.
const personal =
  /Alex|Rivera|Oak Street|Apt 4|Austin|Texas|example\.|TX-4417|Lincoln|jordan-transcript|\b78701\b|(?<![\w-])(?:2028|3\.8)(?![\w-])/i;

type Answered = 'as any join' | 'without the person' | 'refused';
/** What each call of a join answers to a browser that has not proven who its user is. To one that has, each answers in full. */
const unproven: Record<string, Answered> = {
  getOpenJoin: 'as any join',
  getContact: 'without the person',
  submitDetails: 'refused',
  getMembershipDetails: 'as any join',
  setMembership: 'as any join',
  getCheckoutDetails: 'without the person',
  setSessionProduct: 'as any join',
  setCustomDonation: 'as any join',
  deleteSessionProduct: 'as any join',
  createPaymentIntent: 'as any join',
  beginPayment: 'as any join',
  releasePayment: 'as any join',
  getUpgradeDetails: 'as any join',
  createUpgradeCharge: 'as any join',
  skipUpgrade: 'as any join',
  uploadTranscript: 'as any join',
  getDocuments: 'without the person',
  createUploadLink: 'as any join',
  getWelcome: 'without the person',
  getPressRelease: 'refused',
  correctEmail: 'refused',
  setVerification: 'refused',
  'certificate.pdf': 'refused',
  'pressRelease.pdf': 'refused',
} satisfies Partial<Record<CallName | `${DownloadName}.pdf`, Answered>>;

const signed = (contactId: string) =>
  deps.links.sign({ kind: 'checkout', contactId, parameters: {} }, new Date(Date.now() + 86_400_000));

/** Begins a checkout by a signed link to a contact. */
async function begin(client: Client, contactId: string): Promise<{ uuid: string }> {
  const body = { hubspotContactId: contactId, ...signed(contactId) };
  return { uuid: (await client.call('initiateCheckout', { body })).data.joinSessionUuid };
}

async function startCheckout(client: Client): Promise<Join> {
  const { uuid } = await begin(client, CONTACT);
  const params = { uuid };
  const donation = await client.call('setCustomDonation', { params, body: { amount: '5.00' } });
  return { uuid, line: donation.data.sessionProductUuid!, intent: await openIntent(client, uuid) };
}

async function pay(client: Client, { uuid, intent }: Join): Promise<void> {
  const body = { revision: intent.revision, agreeToPolicies: true, hasGuardianConsent: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
}

/** Returns every answer of the calls that are allowed before, or after, the join is paid. */
async function answers(client: Client, join: Join, when: 'unpaid' | 'paid') {
  const all: { name: string; status: number; text: string }[] = [];
  for (const { name, ask, ...row } of ofJoins)
    if (row.when === when) all.push({ name, ...(await ask(client, join)) });
  return all;
}

function assertNothingShown(all: Awaited<ReturnType<typeof answers>>): void {
  for (const { name, status, text } of all) {
    const told = { name, status, shown: personal.exec(text)?.[0], sentence: JSON.parse(text).message };
    const isRefused = unproven[name] === 'refused';
    assert.deepEqual(told, {
      name,
      status: isRefused ? 403 : 200,
      shown: undefined,
      sentence: isRefused ? PROVE_FIRST : told.sentence,
    });
  }
}

test('every call of a join is in the table of what the holder of a checkout link is told', () =>
  assert.deepEqual(ofJoins.map(({ name }) => name).sort(), Object.keys(unproven).sort()));

test('a checkout link shows the first name, the initial and the order; with proof, all that any join shows', async () => {
  const payer = server.client();
  const join = await startCheckout(payer);
  const params = { uuid: join.uuid };
  assertNothingShown(await answers(payer, join, 'unpaid'));
  assertNothingShown(await answers(server.client(), await startCheckout(payer), 'unpaid'));
  const {
    pass,
    invitation: _,
    guardianConsent,
    ...contact
  } = (await payer.call('getContact', { params })).data;
  assert.deepEqual([contact, guardianConsent], [noContact, null]);
  assert.equal(deps.passes.read(pass!).sessionUuid, join.uuid);
  const { data } = await payer.call('getCheckoutDetails', { params });
  const { payingFor, billingEmail, billing } = data;
  assert.deepEqual([payingFor, billingEmail, billing.name, billing.country], ['Jordan R.', '', null, 'US']);
  const row = await deps.database.selectFrom('join_session').select('details').where('uuid', '=', join.uuid);
  assert.deepEqual(await row.executeTakeFirst(), { details: null });

  assert.equal(await proveByCode(server, payer, join.uuid), 200);
  const known = (await payer.call('getContact', { params })).data;
  assert.deepEqual([known.lastName, known.address, known.pass], ['Rivera', '12 Oak Street', null]);
  const proven = (await payer.call('getCheckoutDetails', { params })).data;
  assert.deepEqual(
    [proven.payingFor, proven.billingEmail, proven.billing.postalCode],
    ['Jordan R.', 'jordan.rivera@example.com', '78701'],
  );
  for (const { name, status } of await answers(payer, join, 'unpaid'))
    assert.deepEqual([name, status], [name, 200]);
});

test('who has paid by a checkout link is told no more than before, until they prove to be the person', async () => {
  const payer = server.client();
  const join = await startCheckout(payer);
  const params = { uuid: join.uuid };
  await pay(payer, join);
  assertNothingShown(await answers(payer, join, 'paid'));
  const welcome = (await payer.call('getWelcome', { params })).data;
  assert.deepEqual(
    [
      welcome.firstName,
      welcome.email,
      welcome.papers,
      welcome.receipt?.name,
      welcome.receipt?.payments.length,
    ],
    ['Jordan', null, null, '', 1],
  );

  const member = server.client();
  assert.equal(await proveByCode(server, member, join.uuid), 200);
  // The card is the payer's.
  for (const { name, status } of await answers(member, join, 'paid'))
    assert.deepEqual([name, status], [name, name === 'createUpgradeCharge' ? 403 : 200]);
  const seen = (await member.call('getWelcome', { params })).data;
  assert.deepEqual(
    [seen.email, seen.receipt?.name, seen.papers === null, seen.pass],
    ['corrected@example.com', 'Jordan Rivera', false, null],
  );
  for (const { text } of await answers(payer, join, 'paid')) assert.doesNotMatch(text, personal);
});

test('Stripe, which shows an intent to whoever has its client secret, is not given the person’s email by a payer', async () => {
  const client = server.client();
  const { uuid } = await begin(client, '104');
  const receiptOf = async () => {
    const amount = 6500;
    const asked = { amount, currency: 'usd', billingEmail: '' };
    const { data } = await client.call('createPaymentIntent', { params: { uuid }, body: asked });
    const intent = await server.stripe(
      'GET',
      `/v1/payment_intents/${data.clientSecret.split('_secret_')[0]}`,
    );
    return (intent.body as unknown as { receipt_email: string | null }).receipt_email;
  };
  assert.equal(await receiptOf(), null);
  assert.equal(await proveByCode(server, client, uuid), 200);
  assert.equal(await receiptOf(), 'priya.natarajan@example.com');
});

test('a checkout link opens no other page of its contact', async () => {
  const client = server.client();
  const params = { id: CONTACT };
  const answer = await client.call('initJoin', { params, body: signed(CONTACT) });
  assert.deepEqual([answer.status, answer.message], [403, LINK_INVALID]);
});

test('a code goes to the person alone, never to the email that a payer gave', async () => {
  const contactId = '103';
  const client = server.client();
  const { uuid } = await begin(client, contactId);
  await deps.database
    .updateTable('person')
    .set({ email: null, profile: JSON.stringify({ firstName: 'Sam', lastName: 'Okafor' }) })
    .where('contact_id', '=', contactId)
    .execute();
  const body = { amount: 6500, currency: 'usd', billingEmail: 'payer@example.com' };
  assert.equal((await client.call('createPaymentIntent', { params: { uuid }, body })).status, 200);
  await proveByCode(server, client, uuid);
  const letter = deps.database.selectFrom('letter').select('id').where('session_uuid', '=', uuid);
  const { id } = await letter.where('kind', '=', 'code').executeTakeFirstOrThrow();
  assert.deepEqual(((await readLetter(deps, id))?.emails ?? []).filter(Boolean), []);
});

test('codes are counted by person, so that a link that begins many joins fills no mailbox', async (t) => {
  limitWith(t, server, { LIMIT_PASS_CODES_PER_JOIN: '2/60' });
  const statuses: number[] = [];
  for (let asked = 0; asked < 3; asked++) {
    const client = server.client();
    const { uuid } = await begin(client, '102');
    const token = new URL(deps.passes.address(uuid)).hash.slice(1);
    statuses.push((await client.call('sendPassCode', { body: { token } })).status);
  }
  assert.deepEqual(statuses, [200, 200, 429]);
});
