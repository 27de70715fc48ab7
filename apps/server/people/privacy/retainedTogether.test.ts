import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../../tests/harness/changeSociety.ts';
import { atHubspot, contactIdOf, deliver } from '../../../../tests/harness/deliver.ts';
import { lockHolder, waiting } from '../../../../tests/harness/locks.ts';
import { differencesOf, everything, failRefund, lapelPin } from '../../../../tests/harness/refunds.ts';
import { all, none, retentionOn, rule } from '../../../../tests/harness/retention.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin, payOrder } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../../tests/harness/upgrades.ts';
import { queueForHubspot } from '../../crm/queuePersonsForHubspot.ts';
import { refundJoin } from '../../paying/refunds/refundJoin.ts';

/** Tests that retention erases joins of one person together if they need each other. */
const server = await sharedServer();
const { deps } = server;
const { age, uploaded, forgetAll, rowOf } = retentionOn(server);

for (const [contact, code, productId, paid] of [
  ['a contact that was invited', 'HONOR101', 11, '120.00'],
  ['a contact that the join created', undefined, 10, '110.00'],
] as const)
  test(`a paid join is kept as long as a later one of its contact: HubSpot has one amount for both (${contact})`, async (t) => {
    const { uuid } = await paidJoin(server, server.client(), code, {
      personalEmail: `paid.since.${productId}@example.com`,
    });
    await deliver(server);
    const id = await contactIdOf(server, uuid);
    const later = await upgradeByLink(server, id, { productId });
    await age(uuid, 401);
    changeSociety(t, server, all);
    assert.deepEqual(await forgetAll(), none);
    await queueForHubspot(deps.database, later.uuid);
    await deliver(server);
    assert.equal((await atHubspot(server, id, 'amount_paid')).amount_paid, paid);
    await runCommand(t, server, 'orders ship', [later.uuid]);
    await age(later.uuid, 401);
    assert.deepEqual(await forgetAll(), { ...none, paid: 2 });
  });

for (const waits of ['membership', 'upgrade by link'] as const)
  for (const why of ['owes goods', 'is disputed'] as const)
    test(`the paid joins of a contact go together: none while the ${waits} ${why}`, async (t) => {
      const client = server.client();
      const personalEmail = `together.${waits} ${why}@example.com`.replaceAll(' ', '.');
      const uuid = await orderingJoin(client, undefined, { personalEmail });
      await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
      const base = await payOrder(server, client, uuid);
      await deliver(server);
      const upgrade = await upgradeByLink(server, await contactIdOf(server, uuid));
      const [waiting, other] = waits === 'membership' ? [base, upgrade] : [upgrade, base];
      const ship = async (one: { uuid: string }) =>
        assert.equal((await runCommand(t, server, 'orders ship', [one.uuid])).code, 0);
      const dispute = (standing: 'open' | null) =>
        sql`update payment set dispute = ${standing} where intent_id = ${waiting.intentId}`.execute(
          deps.database,
        );
      await ship(other);
      if (why === 'is disputed') {
        await ship(waiting);
        await dispute('open');
      }
      await age(base.uuid, 402);
      await age(upgrade.uuid, 401);
      changeSociety(t, server, all);
      assert.deepEqual(await forgetAll(), none);
      await (why === 'is disputed' ? dispute(null) : ship(waiting));
      assert.deepEqual(await forgetAll(), { ...none, paid: 2 });
    });

test('a paid join stays when another one of its contact is disputed while it is being removed', async (t) => {
  const base = await paidJoin(server, server.client(), 'HONOR102', {
    personalEmail: 'meanwhile@example.com',
  });
  const upgrade = await upgradeByLink(server, '102');
  await runCommand(t, server, 'orders ship', [upgrade.uuid]);
  for (const { uuid } of [base, upgrade]) await age(uuid, 401);
  changeSociety(t, server, all);
  const holder = await lockHolder(t, server);
  await holder.query('update join_session set updated_at = now() where uuid = $1', [base.uuid]);
  const removing = forgetAll();
  await waiting(server.background, 1);
  const dispute = (standing: 'open' | null) =>
    sql`update payment set dispute = ${standing} where intent_id = ${upgrade.intentId}`.execute(
      deps.database,
    );
  await dispute('open');
  await holder.query('commit');
  assert.deepEqual(await removing, none);
  await dispute(null);
  assert.deepEqual(await forgetAll(), { ...none, paid: 2 });
});

for (const whose of ['was invited', 'the join created'])
  test(`who was rejected finally stays while an upgrade by link is held without its membership (a contact that ${whose})`, async (t) => {
    const personalEmail = `alone.${whose.replaceAll(' ', '.')}@example.com`;
    const client = server.client();
    const code = whose === 'was invited' ? 'HONOR103' : 'LINCOLN2026';
    const { uuid } = await paidJoin(server, client, code, { personalEmail });
    await deliver(server);
    const id = await contactIdOf(server, uuid);
    await deps.contacts.refresh(id);
    const upgrade = await upgradeByLink(server, id);
    await uploaded(client, uuid);
    const rejection = [uuid, '--reason', 'below-requirement', '--final'];
    assert.equal((await runCommand(t, server, 'documents reject', rejection)).code, 0);
    await failRefund(server, upgrade.intentId);
    await deliver(server);
    await deps.contacts.refresh(id);
    await sql`update document set reviewed_at = now() - interval '41 days' where session_uuid = ${uuid}`.execute(
      deps.database,
    );
    changeSociety(t, server, rule('  rejectedDays: 40\n'));
    assert.deepEqual(await forgetAll(), none);
    assert.deepEqual(
      (await differencesOf(server, upgrade.uuid)).map(({ kind }) => kind),
      ['upgrade_alone'],
    );
    await refundJoin(deps, upgrade.uuid, { ...everything, membership: false });
    assert.deepEqual(await forgetAll(), { ...none, rejected: 1 });
  });

test('who was rejected finally goes though the contact has joined again and holds its upgrade with that', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'HONOR103', { personalEmail: 'joined.again@example.com' });
  await uploaded(client, uuid);
  const rejection = [uuid, '--reason', 'below-requirement', '--final'];
  assert.equal((await runCommand(t, server, 'documents reject', rejection)).code, 0);
  await deliver(server);
  await paidJoin(server, server.client(), 'HONOR103', { personalEmail: 'joined.again@example.com' });
  await upgradeByLink(server, '103');
  await sql`update document set reviewed_at = now() - interval '41 days' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  changeSociety(t, server, rule('  rejectedDays: 40\n'));
  assert.deepEqual(await forgetAll(), { ...none, rejected: 1 });
  assert.ok((await rowOf(uuid))!.erased_at);
});

test('who was refunded on request is not kept as shortly as who was rejected finally', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'HONOR104', { personalEmail: 'on.request@example.com' });
  await uploaded(client, uuid);
  assert.equal((await runCommand(t, server, 'documents accept', [uuid])).code, 0);
  await refundJoin(deps, uuid, everything);
  await deliver(server);
  await sql`update document set reviewed_at = now() - interval '41 days' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  changeSociety(t, server, rule('  rejectedDays: 40\n'));
  assert.deepEqual(await forgetAll(), none);
});
