import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { dump } from '../../../tests/harness/dump.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { refundsOf } from '../../../tests/harness/refunds.ts';
import { restored } from '../../../tests/harness/restored.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { payByCard, payOrder, reportPayment } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { settleMissing, openJoin } = restored(server);

/**
 * Makes two payments for one contact, loses both in a restore, and makes them again with `settle --missing`. Returns the second
 * payment, which is a duplicate and is not refunded automatically, and the uuid of the first join.
 */
async function keptSecond(t: TestContext, contactId: string) {
  const code = `KEPT${contactId}`;
  const { database } = server.deps;
  await database.insertInto('person').values({ contact_id: contactId, profile: '{}' }).execute();
  await database
    .insertInto('invitation')
    .values({ code, person_id: personId(contactId) })
    .execute();
  const [first, second] = [await openJoin(code), await openJoin(code)];
  const restore = await dump(server);
  await payByCard(server, first.id);
  await payByCard(server, second.id);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await refundsOf(server, second.id), [], 'nothing was decided');
  return { ...second, firstUuid: first.uuid };
}

test('a payer whose second payment was made again after a restore does not read that it is being returned', async (t) => {
  const { client, uuid, id, clientSecret } = await keptSecond(t, '8101');
  const { data } = await reportPayment(client, uuid, { id, clientSecret });
  assert.deepEqual(
    [data.status, data.refunded?.isReturned, data.refunded?.isWithStaff],
    ['refunded', false, true],
    'no refund was decided, and none is made until staff give it back',
  );
  await runCommand(t, server, 'refund', [id]);
  const { refunded } = (await reportPayment(client, uuid, { id, clientSecret })).data;
  assert.deepEqual([refunded?.isReturned, refunded?.isWithStaff], [true, false]);
});

test('the story of a second payment that was made again after a restore does not say that it goes back', async (t) => {
  const { uuid, id } = await keptSecond(t, '8102');
  const { out } = await runCommand(t, server, 'story', [uuid]);
  assert.match(out, new RegExp(`paid by ${id}, which bought nothing\\.`));
  assert.doesNotMatch(out, /goes back|Refund of/);
});

test('staff who refund a join are told that a second payment of it is still with us', async (t) => {
  const { client, uuid, id, firstUuid } = await keptSecond(t, '8103');
  const refund = async (join: string) => (await runCommand(t, server, 'refund', [join])).out;
  assert.match(await refund(firstUuid), /^\$65\.00 goes back\.$/m);
  await payOrder(server, client, uuid);
  const out = await refund(uuid);
  assert.match(out, new RegExp(`^Payment ${id} bought nothing and is still with us: .* refund ${id}$`, 'm'));
  assert.match(out, /^\$65\.00 goes back\.$/m);
  await refund(id);
  assert.doesNotMatch(await refund(uuid), /still with us/);
});
