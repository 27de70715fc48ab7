import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type CallName, calls, type DownloadName } from '#contract/calls.ts';
import { noContact } from '#core/contact.ts';
import { OPENED_ELSEWHERE, PROVE_FIRST } from '#core/pass.ts';
import {
  type Answer,
  asked,
  type Join,
  ofJoins,
  proveByCode,
  table,
} from '../../../tests/harness/joinCalls.ts';
import { openIntent, orderingJoin, payByCard, reportPayment } from '../../../tests/harness/steps.ts';
import { type Client, limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { readLetter } from '../letters/takeLetter.ts';
import { LINK_INVALID } from './links.ts';

/**
 * Tests what the user of a checkout link learns about the person for whom they pay, before and after they have proven to be that
 * person.
 */
const server = await sharedServer();
const { deps } = server;

/** The contact of the link. The browser that pays for it may learn the first name and the initial of the last one. */
const CONTACT = '101';
// Matches the contact's data, but no digits within an id, which may be any.
const personal =
  /Alex|Rivera|Oak Street|Apt 4|Austin|Texas|example\.|TX-4417|Lincoln|jordan-transcript|\b78701\b|(?<![\w-])(?:2028|3\.8)(?![\w-])/i;

type Answered = 'as any join' | 'without the person' | 'refused';
/**
 * What each call of a join answers to a browser that has not proven who its user is. To a browser that has, each call answers in
 * full.
 */
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
  createPayLink: 'as any join',
  getPayLink: 'as any join',
  endPayLink: 'as any join',
  getUpgradeDetails: 'as any join',
  createUpgradeCharge: 'as any join',
  skipUpgrade: 'as any join',
  getRefundRequest: 'as any join',
  requestRefund: 'refused',
  uploadTranscript: 'as any join',
  getDocuments: 'without the person',
  createUploadLink: 'as any join',
  getWelcome: 'without the person',
  getPressRelease: 'refused',
  correctEmail: 'refused',
  setVerification: 'refused',
  'download certificate': 'refused',
  'download pressRelease': 'refused',
  'download certificatePicture': 'refused',
} satisfies Partial<Record<CallName | `download ${DownloadName}`, Answered>>;

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
  // The saved card is the payer's, so this browser may not charge it.
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

/** Tests what anybody who knows the uuid of a join may do with it: everything until it is paid or proven, and then nothing. */

const proofs = ['unproven', 'proven by code', 'proven by name'] as const;
type Proof = (typeof proofs)[number];

/** Makes a join in the browser `began`, and proves in another browser, which is returned, who its joiner is. */
async function makeJoin(
  began: Client,
  proof: Proof,
  isPaid: boolean,
): Promise<{ join: Join; joiner: Client }> {
  const uuid = await orderingJoin(began);
  const params = { uuid };
  const donation = await began.call('setCustomDonation', { params, body: { amount: '5.00' } });
  const intent = await openIntent(began, uuid);
  const joiner = proof === 'unproven' ? began : server.client();
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  if (proof === 'proven by code') {
    assert.equal(await proveByCode(server, joiner, uuid), 200);
  } else if (proof === 'proven by name') {
    const body = { token, lastName: 'Rivera', zipcode: '78701' };
    assert.equal((await joiner.call('provePassByName', { body })).status, 200);
  }
  if (isPaid) {
    await payByCard(server, intent.id);
    assert.equal((await reportPayment(joiner, uuid, intent)).data.status, 'succeeded');
    // The card's customer is made at Stripe in the background.
    await until(async () => {
      const { rows } =
        await sql`select from payment where intent_id = ${intent.id} and customer_id = ''`.execute(
          deps.database,
        );
      return rows.length === 0;
    });
  }
  return { join: { uuid, line: donation.data.sessionProductUuid!, intent }, joiner };
}

/** Returns a hash of every table. */
async function everything(): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`.execute(deps.database);
  const hashes = tables.map(
    ({ name }) =>
      sql`select ${sql.lit(name)} as name, md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${sql.table(name)} t`,
  );
  return (await sql`${sql.join(hashes, sql` union all `)} order by name`.execute(deps.database)).rows;
}

test('every call that names a join is in the table of what a browser may do', () => {
  const named = (Object.keys(calls) as CallName[]).filter((name) =>
    /\{(uuid|sessionProductUuid)\}/.test(calls[name].path),
  );
  assert.deepEqual(
    named.filter((name) => !('ask' in table[name])),
    ['postPayment'],
  );
});

for (const isPaid of [false, true])
  for (const proof of proofs)
    for (const who of ['the browser that began it', 'the uuid alone'] as const) {
      const isOpen = proof === 'unproven' && (!isPaid || who === 'the browser that began it');
      const cell = `${who}, ${proof}, ${isPaid ? 'paid' : 'unpaid'}`;
      test(`${cell}: ${isOpen ? 'all is answered' : 'nothing is read or written'}`, async () => {
        const began = server.client();
        const { join, joiner } = await makeJoin(began, proof, isPaid);
        const browser = who === 'the uuid alone' ? server.client() : began;
        const answers = async (client: Client, when?: 'unpaid' | 'paid') => {
          const all: [string, Answer][] = [];
          for (const { name, ask, ...row } of ofJoins)
            if (when === undefined || row.when === when) all.push([name, await ask(client, join)]);
          return all;
        };
        const failed = (all: [string, Answer][]) =>
          all
            .filter(([, { status }]) => status !== 200)
            .map(([name, { status, text }]) => [name, status, text]);
        if (isOpen) return assert.deepEqual(failed(await answers(browser, isPaid ? 'paid' : 'unpaid')), []);
        const before = await everything();
        const secret = `${join.intent.id}_secret_guessed`;
        for (const [name, { status, text }] of [
          ...(await answers(browser)),
          [
            'postPayment',
            await asked('postPayment', {
              paymentIntent: join.intent.id,
              paymentIntentClientSecret: secret,
              redirectStatus: 'succeeded',
            })(browser, join),
          ] as const,
        ]) {
          const { data, message, goOn } = JSON.parse(text);
          if (name === 'getOpenJoin') assert.deepEqual(data, { join: null });
          else if (name === 'postPayment') assert.equal(status, 404);
          else assert.deepEqual([name, message, data, goOn], [name, OPENED_ELSEWHERE, undefined, undefined]);
        }
        assert.deepEqual(await everything(), before);
        // The joiner's calls still succeed. A browser that did not pay with the card cannot charge it.
        assert.deepEqual(failed(await answers(joiner, isPaid ? 'paid' : 'unpaid')), []);
      });
    }
