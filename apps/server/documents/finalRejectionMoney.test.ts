import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { REJECTED_FINALLY } from '#documents/document.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { openIntent, paidJoin, payByCard } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';

/** Tests how much money a final rejection refunds. */
const server = await sharedServer();

async function upload(client: Client, uuid: string): Promise<number> {
  return (await postPdf(client, pathOf('uploadTranscript', { uuid }))).status;
}

async function uploaded(): Promise<{ client: Client; uuid: string }> {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  assert.equal(await upload(client, uuid), 200);
  return { client, uuid };
}

test('a final rejection gives the membership back, and takes nothing more', async (t) => {
  const { client, uuid } = await uploaded();
  const args = [uuid, '--reason', 'below-requirement', '--final'];
  const { out, code } = await runCommand(t, server, 'documents reject', args);
  assert.equal(code, 0);
  assert.ok(out.includes(REJECTED_FINALLY));
  assert.match(out, /^\$65(\.00)? goes back\.$/m);
  assert.equal(await upload(client, uuid), 409);
  const { data } = await client.call('getDocuments', { params: { uuid } });
  assert.deepEqual(data, {
    documents: [],
    rejection: { message: REJECTED_FINALLY, isFinal: true },
    hasEnded: true,
  });
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.rejection, REJECTED_FINALLY);
  const again = await runCommand(t, server, 'documents reject', args);
  assert.match(again.out, /nothing of what was asked for is left to refund/);
  const { rows } = await sql<{ cents: number }>`
    select sum(refunded_cents)::int as cents from payment where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(rows[0]!.cents, 6500);
});

/** Makes a paid join with a transcript and an upgrade. */
async function upgraded(code?: string) {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, code);
  assert.equal(await upload(client, uuid), 200);
  const charged = await client.call('createUpgradeCharge', {
    params: { uuid },
    body: { paymentIntent: intentId },
  });
  assert.equal(charged.data.status, 'succeeded');
  return { client, uuid, intentId };
}
const money = async (uuid: string) =>
  (
    await sql<{ standing: string; cents: number }>`
      select standing, refunded_cents as cents from payment join membership on payment_intent = intent_id
      where payment.session_uuid = ${uuid} order by kind`.execute(server.deps.database)
  ).rows.map(({ standing, cents }) => [standing, cents]);

test('a final rejection gives the upgrade back in full, and nobody who is not eligible keeps it', async (t) => {
  const { uuid } = await upgraded();
  const args = [uuid, '--reason', 'below-requirement', '--final'];
  const { out, code } = await runCommand(t, server, 'documents reject', args);
  assert.equal(code, 0);
  assert.match(
    out,
    /^\$65\.00 {2}Membership .*\n\$45\.00 {2}Distinguished Member .*\n\$110\.00 goes back\.$/m,
  );
  assert.deepEqual(await money(uuid), [
    ['refunded', 6500],
    ['refunded', 4500],
  ]);
  const { rows } =
    await sql`select from staff_notice where session_uuid = ${uuid} and kind = 'upgrade_alone'`.execute(
      server.deps.database,
    );
  assert.equal(rows.length, 0, 'nobody is sent to do what is done');
});

test('a trial of a final rejection says what the real one does, and decides nothing', async (t) => {
  const { client, uuid, intentId } = await upgraded();
  const args = [uuid, '--reason', 'below-requirement', '--final'];
  const trial = await runCommand(t, server, 'documents reject', [...args, '--dry-run']);
  assert.equal(trial.code, 0);
  const untouched = await client.call('getDocuments', { params: { uuid } });
  assert.deepEqual([untouched.data.documents.length, untouched.data.rejection], [1, null]);
  assert.deepEqual(await money(uuid), [
    ['active', 0],
    ['active', 0],
  ]);
  const lines = (text: string) => text.split('\n').filter((line) => line.startsWith('$'));
  const real = await runCommand(t, server, 'documents reject', args);
  assert.deepEqual(
    lines(trial.out),
    lines(real.out).map((line) => line.replace('goes back', 'would go back')),
  );
  assert.match(
    trial.out,
    new RegExp(`1 document would be rejected\\.\nThe applicant would read: [\\s\\S]*${intentId}`),
  );
  const other = await uploaded();
  const mild = await runCommand(t, server, 'documents reject', [
    other.uuid,
    '--reason',
    'unreadable',
    '--dry-run',
  ]);
  assert.match(mild.out, /^1 document would be rejected\.\nThe applicant would read: [^\n]+\n$/);
});

test('a final rejection gives back an upgrade that was bought by a link of its own, too', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'HONOR104');
  assert.equal(await upload(client, uuid), 200);
  const checkout = await server.client().call('initiateCheckout', {
    body: { hubspotContactId: '104', mainProductId: 10 },
  });
  const upgrade = checkout.data.joinSessionUuid;
  const { id, revision } = await openIntent(client, upgrade);
  await client.call('beginPayment', {
    params: { uuid: upgrade },
    body: { revision, agreeToPolicies: true, isForAnother: true },
  });
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'succeeded');
  const args = [uuid, '--reason', 'below-requirement', '--final'];
  const trial = await runCommand(t, server, 'documents reject', [...args, '--dry-run']);
  assert.match(trial.out, /^\$110\.00 would go back\.$/m);
  assert.deepEqual(await money(upgrade), [['active', 0]]);
  const { out, code } = await runCommand(t, server, 'documents reject', args);
  assert.equal(code, 0);
  assert.match(out, /^\$110\.00 goes back\.$/m);
  assert.deepEqual([await money(upgrade), await money(uuid)], [[['refunded', 4500]], [['refunded', 6500]]]);
  const notices = await server.deps.database
    .selectFrom('staff_notice')
    .select('kind')
    .where('kind', '=', 'upgrade_alone')
    .where('session_uuid', 'in', [uuid, upgrade])
    .execute();
  assert.deepEqual(notices, []);
});

test('a final rejection keeps the fee of who came by a code of their own and bought the upgrade', async (t) => {
  changeSociety(t, server, (source) => source.replace(/processingFee: "0.00"/, 'processingFee: "7.00"'));
  const { uuid } = await upgraded('HONOR102');
  const args = [uuid, '--reason', 'below-requirement', '--final'];
  assert.equal((await runCommand(t, server, 'documents reject', args)).code, 0);
  assert.deepEqual(await money(uuid), [
    ['refunded', 5800],
    ['refunded', 4500],
  ]);
});

test('a final rejection knows what was given back in the dashboard, and decides nothing while Stripe does not say', async (t) => {
  const { client, uuid, intentId } = await upgraded();
  const args = [uuid, '--reason', 'below-requirement', '--final'];
  await server.stripeFault({ kind: 'status', status: 500, method: 'GET', path: '/v1/refunds', times: 9 });
  const down = await runCommand(t, server, 'documents reject', args);
  await server.stripeFault(null);
  assert.deepEqual([down.code, /Stripe does not answer/.test(down.out)], [1, true]);
  assert.equal((await client.call('getDocuments', { params: { uuid } })).data.rejection, null);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  const { out } = await runCommand(t, server, 'documents reject', args);
  assert.match(out, /Membership has already been refunded\.\n\$45\.00 goes back\.\n$/);
});
