import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import { lapelPin } from '../../../tests/harness/refunds.ts';
import { orderingJoin, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { correctPerson, previewCorrection } from '../people/correctPerson.ts';
import { CrmUnavailable } from './hubspot/errors.ts';
import { pushDue } from './push.ts';

/** Tests what a contact says in the end if HubSpot's answer to a write was lost, and something changed before the next try. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps, hubspot } = server;
const { invited, paid, personOf } = identityOn(server);

/** Tells HubSpot once. With `isTaken`, HubSpot takes the write, and its answer is lost; otherwise the request is. */
async function loseAnswer(t: TestContext, isTaken: boolean): Promise<void> {
  const { updateContacts } = hubspot;
  const mock = t.mock.method(
    hubspot,
    'updateContacts',
    async (writes: Parameters<typeof updateContacts>[0]) => {
      if (isTaken) await updateContacts(writes);
      throw new CrmUnavailable('no answer');
    },
  );
  for (let round = 0; round < 3; round++) await pushDue({ ...deps, database: server.background });
  assert.ok(mock.mock.callCount() > 0);
  mock.mock.restore();
}

async function heldAt(id: string): Promise<(string | null)[]> {
  const names = ['membership_status', 'membership_name', 'amount_paid', 'store_items'];
  const held = await atHubspot(server, id, ...names);
  return names.map((name) => held[name] || null);
}

const named = { firstname: 'Jordan', lastname: 'Rivera' };
for (const [isTaken, lost] of [
  [true, 'answer'],
  [false, 'request'],
] as const) {
  test(`who leaves a contact after the ${lost} about their purchase was lost leaves nothing there`, async (t) => {
    for (const how of ['correction', 'merge']) {
      const email = `lost.${lost}.${how}@example.com`;
      const { id } = await invited(email, named);
      const into = await invited(`into.${email}`, { firstname: 'Jo' });
      const { uuid } = await paid({ personalEmail: email });
      await loseAnswer(t, isTaken);
      if (how === 'merge') await mergeNow(server, uuid, into.id);
      else {
        const change = { personalEmail: `right.${email}` };
        const person = await personOf(uuid);
        const seen = await previewCorrection(deps, person.id, change);
        await correctPerson(deps, person.id, change, { seen, resends: false });
      }
      await deliver(server);
      assert.deepEqual(await heldAt(id), [null, null, null, null], how);
    }
  });

  test(`items that are refunded after the ${lost} about them was lost are not said of the contact`, async (t) => {
    const email = `lost.${lost}.items@example.com`;
    const { id, code } = await invited(email, named);
    const client = server.client();
    const uuid = await orderingJoin(client, code, { personalEmail: email });
    await deliver(server);
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
    await payOrder(server, client, uuid);
    await loseAnswer(t, isTaken);
    await refundJoin(deps, uuid, { membership: false, ineligible: false, upgrade: false, items: 'all' });
    await deliver(server);
    assert.deepEqual(await heldAt(id), ['member', 'Membership', '65.00', null]);
  });
}
