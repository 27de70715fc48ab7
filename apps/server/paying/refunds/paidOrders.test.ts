import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { newOrder, openIntent, payOrder } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { readLedger } from '../../books/readLedger.ts';
import { readDelivery } from '../../crm/deliveries.ts';
import { readLetter } from '../../letters/takeLetter.ts';
import { listParcels } from '../../membership/orders.ts';
import { paidOrders } from './paidOrders.ts';

const server = await sharedServer();
const { deps } = server;

const lapelPin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
const donation = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';

test('an order is read as it was paid, and once, whatever was offered to be paid before', async () => {
  const { client, uuid } = await newOrder(server);
  const params = { uuid };
  for (const productUuid of [lapelPin, donation]) {
    await client.call('setSessionProduct', { params, body: { productUuid } });
    await openIntent(client, uuid);
  }
  const { intentId } = await payOrder(server, client, uuid);
  const paid = ['Membership', 'Lapel Pin', 'Donation to scholarships'];
  const namesOf = (lines: readonly { name: string }[] = []) => lines.map(({ name }) => name);

  const orders = await paidOrders(deps, deps.database, [intentId]);
  assert.deepEqual(
    orders.map(({ lines }) => namesOf(lines)),
    [paid],
    'by refunds',
  );
  const personOfJoin = (of: string) => sql<number>`(select person_id from join_session where uuid = ${of})`;
  const told = (await readDelivery(deps, personOfJoin(uuid)))?.own.orders ?? [];
  assert.deepEqual(
    told.map(({ lines }) => namesOf(lines)),
    [paid],
    'by HubSpot',
  );
  const parcels = await listParcels(deps, { all: true });
  assert.deepEqual(
    parcels.map(({ goods }) => namesOf(goods)),
    [['Lapel Pin']],
    'by whoever sends it',
  );
  const { id } = await deps.database
    .selectFrom('letter')
    .select('id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'confirmation')
    .executeTakeFirstOrThrow();
  assert.deepEqual(namesOf((await readLetter(deps, id))?.payment?.lines), paid, 'by its receipt');
  const day = 86_400_000;
  const { rows } = await readLedger(deps, {
    from: new Date(Date.now() - day),
    until: new Date(Date.now() + day),
  });
  assert.deepEqual(
    rows.filter(({ grossCents }) => grossCents > 0).map(({ product }) => product),
    paid,
    'by the accountant',
  );
});
