import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOrder, payByCard } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { findPerson } from './findPerson.ts';
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
