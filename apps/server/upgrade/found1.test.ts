import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { membershipsOf } from '../../../tests/harness/rows.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, declineSavedCard } from '../../../tests/harness/upgrades.ts';

const server = await sharedServer();

test('an upgrade that the society has put in the place of another one at its price is what is sold once it is shown', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await declineSavedCard(server, uuid, 'insufficient_funds');
  assert.equal((await charge(client, uuid, intentId, { amount: 4500 })).data.status, 'failed');
  await declineSavedCard(server, uuid, null);
  changeSociety(t, server, (source) =>
    source.replaceAll('upgrade: 10\n', 'upgrade: 12\n').replace(
      '  - id: 11\n',
      `  - id: 12
    uuid: 0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0012
    type: membership_upgrade
    programme: high-school
    name: Patron upgrade
    description: Recognition beyond membership
    price: "45.00"
    features:
      - Named in the yearbook
  - id: 11
`,
    ),
  );
  const params = { uuid };
  const shown = (await client.call('getUpgradeDetails', { params })).data;
  assert.equal(shown.upgradeOption?.name, 'Patron upgrade');
  const { data } = await charge(client, uuid, intentId, { amount: 4500 });
  assert.equal(data.status, 'succeeded');
  const sold = (await membershipsOf(server, uuid)).find(({ type }) => type === 'membership_upgrade');
  assert.equal(sold?.product_id, shown.upgradeOption?.id, 'what was on the screen is what was sold');
});
