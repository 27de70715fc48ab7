import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { membershipOnly } from '../../../tests/harness/refunds.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { proofJoin } from './proofJoin.ts';

const server = await sharedServer();

test('the proof of an upgrade by link is owed by the join that bought its base, and by none whose payment came to nothing', async () => {
  const { database } = server.deps;
  const base = await paidJoin(server, server.client(), 'HONOR104');
  const upgrade = await upgradeByLink(server, '104');
  const later = await paidJoin(server, server.client());
  const stranger = await paidJoin(server, server.client(), 'HONOR102');
  await sql`update membership set standing = 'refunded' where session_uuid = ${base.uuid}`.execute(database);
  await sql`update person set is_member = false where contact_id = '104'`.execute(database);
  await sql`update join_session set person_id = (select id from person where contact_id = '104') where uuid = ${later.uuid}`.execute(
    database,
  );
  const proofOfUpgradeWhen = async (bySession: string, standing: string) => {
    await sql`
      update membership set session_uuid = ${bySession}, standing = ${standing}, person_id = (select id from person where contact_id = '104')
      where payment_intent = ${later.intentId}`.execute(database);
    return proofJoin(database, upgrade.uuid);
  };
  assert.equal(await proofOfUpgradeWhen(later.uuid, 'refunded'), later.uuid, 'the last one that was bought');
  assert.equal(await proofOfUpgradeWhen(later.uuid, 'void'), base.uuid);
  assert.equal(await proofOfUpgradeWhen(upgrade.uuid, 'void'), base.uuid, 'nor by its own join');
  assert.equal(await proofJoin(database, stranger.uuid), stranger.uuid);
});

test('the upload page of an upgrade by link says that it is over when its base has ended, and not when the upgrade has', async () => {
  const hasEnded = async ({ client, uuid }: Awaited<ReturnType<typeof upgradeByLink>>) =>
    (await client.call('getDocuments', { params: { uuid } })).data.hasEnded;
  await paidJoin(server, server.client(), 'HONOR103');
  const givenBack = await upgradeByLink(server, '103');
  await refundJoin(server.deps, givenBack.uuid, { ...membershipOnly, membership: false, upgrade: true });
  assert.equal(await hasEnded(givenBack), false);

  const base = await paidJoin(server, server.client(), 'HONOR101');
  const held = await upgradeByLink(server, '101');
  await refundJoin(server.deps, base.uuid, membershipOnly);
  assert.equal(await hasEnded(held), true);
});
