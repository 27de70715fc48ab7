import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { askStripe } from '../../../../tests/harness/providers.ts';
import { newOrder, payByCard } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { sendDueLinks } from '../../joining/pass/sendLinks.ts';
import { erasePerson } from './erasePerson.ts';
import { findPerson } from './findPerson.ts';
import { planErasure } from './planErasure.ts';
import { readPerson } from './readPerson.ts';

const server = await sharedServer();
const { deps } = server;
const payer = { name: 'Alex Quill', email: 'alex.quill@example.com' };

/** Makes a member whose membership somebody else has paid. */
async function paidBySomebodyElse(personalEmail: string): Promise<string> {
  const { client, uuid } = await newOrder(server, undefined, { personalEmail });
  const { path } = (await client.call('createPayLink', { params: { uuid }, body: {} })).data;
  const parent = server.client();
  const params = { token: path.split('/').at(-1)! };
  const { clientSecret } = (await parent.call('beginPayPage', { params, body: { revision: 1, ...payer } }))
    .data;
  const paymentIntent = clientSecret.split('_secret_')[0]!;
  await payByCard(server, paymentIntent);
  await parent.call('reportPayPage', { body: { paymentIntent, paymentIntentClientSecret: clientSecret } });
  return uuid;
}

const exported = async (email: string) =>
  JSON.stringify((await readPerson(deps, await findPerson(deps, email))).sections);

test('the export of a member has nothing of who paid for them, and that of the payer nothing of the member', async () => {
  const uuid = await paidBySomebodyElse('paid.for@example.com');
  const members = await exported('paid.for@example.com');
  assert.match(members, /payer-receipt/);
  assert.doesNotMatch(members, /alex\.quill|Quill|4242/i);
  const payers = await exported(payer.email);
  assert.match(payers, /alex\.quill/);
  for (const secret of [uuid, 'paid.for@example.com', 'Jordan', 'Rivera'])
    assert.ok(!payers.includes(secret), secret);
});

test('who paid for somebody is erased alone: the membership stays, and no letter of theirs goes to the member', async () => {
  const uuid = await paidBySomebodyElse('kept@example.com');
  await erasePerson(deps, await planErasure(deps, payer.email));
  const { rows } = await sql<{
    email: string | null;
    name: string | null;
    standing: string;
    to: string | null;
  }>`
    select receipt_email as email, payer_name as name, standing,
      (select email from letter where letter.session_uuid = payment.session_uuid and kind = 'payer-receipt') as "to"
    from payment join membership on payment_intent = intent_id where payment.session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.deepEqual(rows, [{ email: null, name: null, standing: 'active', to: null }]);
  assert.match(await exported('kept@example.com'), /"standing":"active"/);
});

test('the name of a payer who is erased is removed at Stripe, and that somebody else paid stays known', async () => {
  const uuid = await paidBySomebodyElse('known@example.com');
  const { rows } = await sql<{ intent_id: string }>`
    select intent_id from payment where session_uuid = ${uuid} and by_pay_link`.execute(deps.database);
  const read = () =>
    askStripe<{ metadata: Record<string, string>; latest_charge: { metadata: Record<string, string> } }>(
      server.stripeUrl,
      'GET',
      `/v1/payment_intents/${rows[0]!.intent_id}?expand[]=latest_charge`,
    );
  const before = await read();
  assert.equal(before.metadata.payer, payer.name);
  await erasePerson(deps, await planErasure(deps, payer.email));
  const after = await read();
  for (const { metadata } of [after, after.latest_charge])
    assert.deepEqual(metadata, { ...before.metadata, payer: '(erased)' });
});

test('the payer’s email opens nothing of the join', async () => {
  const uuid = await paidBySomebodyElse('opens.nothing@example.com');
  await deps.database.insertInto('pass_request').values({ email: payer.email }).execute();
  assert.equal(await sendDueLinks(deps), 1);
  const { rows } = await sql`select from letter where session_uuid = ${uuid} and kind = 'link'`.execute(
    deps.database,
  );
  assert.equal(rows.length, 0);
});
