import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { rejectionReasons } from '#documents/document.ts';
import { everything, failRefund, membershipOnly, undergraduate } from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../../tests/harness/transcripts.ts';
import { charge, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { waitingTranscripts } from './review.ts';

const server = await sharedServer();
const { accept, lettersTo, reject, upload } = transcriptsOn(server);

/** The sentence that staff read if the membership of a join has ended. */
const over = (uuid: string) =>
  `The membership of join ${uuid} has ended, so there is nothing to decide about its transcripts.\n`;

test('of a membership that was refunded no transcript is to be decided, and no decision is made or told', async (t) => {
  const client = server.client();
  const personalEmail = 'refunded.undecided@example.com';
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  await upload(client, uuid);
  const listed = async () => (await runCommand(t, server, 'documents list', [])).out.includes(uuid);
  assert.equal(await listed(), true);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.equal(await listed(), false);
  const refused = { code: 1, out: over(uuid) };
  assert.deepEqual(await accept(t, uuid), refused);
  for (const more of [[], ['--dry-run'], ['--final', '--dry-run'], ['--final']])
    assert.deepEqual(await reject(t, uuid, 'below-requirement', ...more), refused, more.join());
  const { rejection } = (await client.call('getDocuments', { params: { uuid } })).data;
  assert.equal(rejection, null);
  assert.deepEqual(await lettersTo(personalEmail), []);
});

test('a decision whose letter was not sent before the membership was refunded is not told', async (t) => {
  for (const decide of [accept, (t: TestContext, uuid: string) => reject(t, uuid, 'unreadable')]) {
    const client = server.client();
    const personalEmail = `refunded.after.${decide.name}@example.com`;
    const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
    await upload(client, uuid);
    assert.equal((await decide(t, uuid)).code, 0);
    await refundJoin(server.deps, uuid, membershipOnly);
    assert.deepEqual(await lettersTo(personalEmail), []);
  }
});

test('whose membership was refunded after a rejection is asked for no other transcript, and again once the refund has failed', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  assert.equal(await upload(client, uuid), 200);
  assert.equal((await reject(t, uuid, 'unreadable')).code, 0);
  const asks = async () => {
    const { rejection, hasEnded } = (await client.call('getDocuments', { params: { uuid } })).data;
    const welcome = (await client.call('getWelcome', { params: { uuid } })).data;
    return [rejection?.message ?? null, hasEnded, welcome.rejection, welcome.owesTranscript];
  };
  const asked = [rejectionReasons.unreadable, false, rejectionReasons.unreadable, true];
  assert.deepEqual(await asks(), asked);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual(await asks(), [null, true, null, false]);
  await failRefund(server, intentId);
  assert.deepEqual(await asks(), asked);
});

test('a transcript of a membership whose refund has failed is to be decided again', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  await upload(client, uuid);
  await refundJoin(server.deps, uuid, membershipOnly);
  await failRefund(server, intentId);
  assert.match((await runCommand(t, server, 'documents list', [])).out, new RegExp(uuid));
  assert.equal((await accept(t, uuid)).code, 0);
});

test('a transcript of an upgrade by link whose base was not bought here is decided while the upgrade is held', async (t) => {
  const { database } = server.deps;
  await database
    .insertInto('person')
    .values({ contact_id: '7311', profile: '{}', is_member: true })
    .execute();
  const { client, uuid } = await upgradeByLink(server, '7311');
  await upload(client, uuid);
  assert.match((await runCommand(t, server, 'documents list', [])).out, new RegExp(uuid));
  assert.equal((await accept(t, uuid)).code, 0);
  await upload(client, uuid, 'second.pdf');
  await refundJoin(server.deps, uuid, { ...everything, membership: false });
  assert.doesNotMatch((await runCommand(t, server, 'documents list', [])).out, new RegExp(uuid));
  assert.deepEqual(await accept(t, uuid), { code: 1, out: over(uuid) });
});

test('a self-nominator is not sent to upload once the membership was refunded', async () => {
  const { client, uuid } = await undergraduate(server);
  const goesOn = async () => (await client.call('getUpgradeDetails', { params: { uuid } })).data.goOn;
  assert.equal(await goesOn(), '/registration/upload-transcript');
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.equal(await goesOn(), '/registration/congratulations');
});

test('whose membership was refunded while the upgrade stays is sent to no upload, and no transcript of theirs is to be decided', async (t) => {
  const { client, uuid, intentId } = await undergraduate(server);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const params = { uuid };
  const goesOn = async () => (await client.call('getUpgradeDetails', { params })).data.goOn;
  const listed = async () => (await waitingTranscripts(server.deps)).some((join) => join.uuid === uuid);
  const owes = async () => (await client.call('getWelcome', { params })).data.owesTranscript;
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual([await goesOn(), await owes()], ['/registration/congratulations', false]);
  await failRefund(server, intentId);
  assert.deepEqual([await goesOn(), await owes()], ['/registration/upload-transcript', true]);
  assert.equal(await upload(client, uuid), 200);
  assert.equal(await listed(), true);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.equal(await listed(), false);
  assert.equal((await client.call('getDocuments', { params })).data.hasEnded, true);
  assert.deepEqual(await accept(t, uuid), { code: 1, out: over(uuid) });
});
