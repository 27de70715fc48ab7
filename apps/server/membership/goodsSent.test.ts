import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { nominatedOrder, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { compose } from '../letters/compose.ts';
import { holds, readLetter } from '../letters/takeLetter.ts';
import { shipOrder, unshipOrder } from './shipOrder.ts';

const server = await sharedServer();
const deps = { ...server.deps, actor: 'Robin' };
const PIN = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

test('a member is told what was sent and its tracking number, on the welcome page and by a letter, unless it is taken back', async () => {
  const client = server.client();
  const uuid = await nominatedOrder(client, { items: [PIN] });
  await payOrder(server, client, uuid);
  const goods = async () => (await client.call('getWelcome', { params: { uuid } })).data.goods;
  assert.deepEqual(await goods(), [{ name: 'Lapel Pin', state: 'has not shipped yet' }]);

  await shipOrder(deps, uuid, { items: null, note: '9400 1000' });
  assert.match((await goods())![0]!.state, /^was sent on .*\(9400 1000\)$/);
  const { rows } = await sql<{ id: string; minutes: number }>`
    select id, round(extract(epoch from due_at - created_at) / 60)::int as minutes from letter
    where session_uuid = ${uuid} and kind = 'goods-sent'`.execute(deps.database);
  assert.deepEqual(
    rows.map(({ minutes }) => minutes),
    [10],
  );
  const letter = async () => (await readLetter(deps, rows[0]!.id))!;
  const mail = compose(deps, await letter(), deps.now())!;
  assert.equal(mail.subject, 'Your Lapel Pin is on its way');
  assert.match(mail.text, /Tracking: 9400 1000/);
  assert.equal(holds(await letter(), deps.now()), true);
  await unshipOrder(deps, uuid, { items: null });
  assert.equal(holds(await letter(), deps.now()), false);
});
