import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { editAtHubspot, newContact } from '../../tests/harness/deliver.ts';
import { waiting } from '../../tests/harness/locks.ts';
import { chargeOf } from '../../tests/harness/refunds.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { nominatedOrder, paidJoin, payOrder } from '../../tests/harness/steps.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../tests/harness/upgrades.ts';
import { shipOrder, unshipOrder } from '../server/membership/shipOrder.ts';
import { followPayment } from '../server/paying/refunds/followPayment.ts';

const server = await sharedServer({ OPERATOR_NAME: 'Robin\u001b[31m' });
const as = (actor: string) => ({ ...server.deps, actor });

const PIN = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
const STOLE = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0031';
const run = (t: TestContext, command: string, ...args: string[]) => runCommand(t, server, command, args);
const today = () => new Date().toISOString().slice(0, 10);

/** Makes a paid join with these store items. By default its membership includes a cord. */
async function join({
  membershipId = 2,
  items = [] as string[],
  person = {} as Partial<StudentDetails>,
  takesUpgrade = false,
} = {}) {
  const client = server.client();
  const uuid = await nominatedOrder(client, { membershipId, items, person });
  const paid = await payOrder(server, client, uuid);
  if (takesUpgrade) await charge(client, uuid, paid.intentId);
  return paid;
}

/** Returns the part of a command's output that is about one join: its line and the indented lines below it. */
function of(out: string, uuid: string): string[] {
  const lines = out.split('\n');
  const at = lines.findIndex((line) => line.startsWith(uuid));
  if (at < 0) return [];
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('  '));
  return lines.slice(at, end).map((line) => line.trim());
}

test('what was bought and is to be sent is listed, and is sent by one command', async (t) => {
  const { uuid } = await join({ items: [PIN], takesUpgrade: true });
  const { uuid: nothing } = await join({ membershipId: 1 });
  const listed = await run(t, 'orders list');
  assert.deepEqual(of(listed.out, uuid), [
    `${uuid}  Jordan Rivera  paid ${today()}  waits for 0 days`,
    'Honor Cord (product 2)  to send',
    'Lapel Pin (product 30)  to send',
    'Engraved Medallion (product 10)  to send',
  ]);
  assert.deepEqual(of(listed.out, nothing), [], 'a membership that ships nothing');
  assert.match(listed.out, /^3 to send to 1 join, the oldest for 0 days\.$/m);

  const part = await run(t, 'orders ship', uuid, '--item', '30', '--note', 'TRACK 1\u001b[2J');
  assert.deepEqual(part, { out: 'Lapel Pin is sent.\n', code: 0 });
  assert.equal(of((await run(t, 'orders list')).out, uuid)[1], 'Honor Cord (product 2)  to send');
  const cord = await run(t, 'orders ship', uuid, '--item', '2');
  assert.deepEqual(cord, { out: 'Honor Cord is sent.\n', code: 0 });
  assert.deepEqual(
    of((await run(t, 'orders list')).out, uuid).slice(1),
    ['Engraved Medallion (product 10)  to send'],
    'the first line of the upgrade is not that of the join',
  );
  const rest = await run(t, 'orders ship', uuid);
  assert.equal(rest.code, 0);
  assert.match(
    rest.out,
    /^Engraved Medallion is sent\.\nHonor Cord: .*\nLapel Pin: sent on .* by Robin\[31m \(TRACK 1\[2J\)\.\n$/,
  );
  const again = await run(t, 'orders ship', uuid);
  assert.equal(again.code, 1);
  assert.match(again.out, /Honor Cord: sent on .*\nNothing is sent\.\n/s);
  assert.deepEqual(of((await run(t, 'orders list')).out, uuid), []);
  assert.match(of((await run(t, 'orders list', '--all')).out, uuid)[0]!, /done$/);
});

test('what was said to be sent is taken back, is to be sent again, and what was said is kept', async (t) => {
  const { uuid, intentId } = await join();
  await sql`update payment set succeeded_at = now() - interval '71 hours' where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  assert.match(of((await run(t, 'orders list')).out, uuid)[0]!, / waits for 2 days$/);
  await run(t, 'orders ship', uuid, '--note', 'first');
  assert.deepEqual(await run(t, 'orders unship', uuid), { out: 'Honor Cord is taken back.\n', code: 0 });
  assert.equal((await run(t, 'orders unship', uuid)).code, 1);
  const { out } = await run(t, 'orders show', uuid);
  assert.match(out, /Honor Cord \(product 2\) {2}to send/);
  assert.match(out, /^to {2}12 Oak Street, Austin, Texas, 78701, United States$/m);
  assert.deepEqual(of((await run(t, 'orders list')).out, uuid).slice(1), ['Honor Cord (product 2)  to send']);
  assert.match(out, /Honor Cord: said to be sent on .* by Robin\[31m, taken back on .* by Robin\[31m/);
  assert.equal((await run(t, 'orders ship', uuid)).code, 0);
});

test('one thing of a parcel is taken back, and the rest of it stays sent', async (t) => {
  const { uuid } = await join({ items: [PIN] });
  const { uuid: another } = await join({ items: [PIN] });
  for (const one of [uuid, another]) await run(t, 'orders ship', one);
  const { out, code } = await run(t, 'orders unship', uuid, '--item', '30');
  assert.deepEqual({ out, code }, { out: 'Lapel Pin is taken back.\n', code: 0 });
  const [, cord, pin] = of((await run(t, 'orders list', '--all')).out, uuid);
  assert.match(cord!, /^Honor Cord \(product 2\) {2}sent on /);
  assert.equal(pin, 'Lapel Pin (product 30)  to send');
  assert.deepEqual(of((await run(t, 'orders list')).out, another), [], "another join's pin stays sent");

  const items = [30];
  await shipOrder(as('Kim'), uuid, { items, note: null });
  await unshipOrder(as('Kim'), uuid, { items });
  const { rows } = await sql<{ unshipped_by: string | null }>`
    select unshipped_by from shipment where session_uuid = ${uuid} and product_id = 30 order by id`.execute(
    server.deps.database,
  );
  assert.deepEqual(
    rows.map(({ unshipped_by }) => unshipped_by),
    ['Robin\u001b[31m', 'Kim'],
    'what was said before stays as it was said',
  );
});

test('what is refunded is not sent; what is refunded after it was sent is shown', async (t) => {
  const refunded = await join({ items: [PIN, STOLE] });
  await run(t, 'orders ship', refunded.uuid, '--item', '31');
  await run(t, 'refund', refunded.uuid, '--items', '30,31', '--no-membership');
  const { out } = await run(t, 'orders show', refunded.uuid);
  assert.match(out, /Honor Cord \(product 2\) {2}to send/);
  assert.match(out, /Lapel Pin \(product 30\) {2}not to be sent: refunded/);
  assert.match(out, /Honor Stole \(product 31\) {2}sent on .*, and its money went back since/);
  const named = await run(t, 'orders ship', refunded.uuid, '--item', '30');
  assert.deepEqual(named, {
    out: 'Lapel Pin: not to be sent: refunded.\nNothing is sent.\n',
    code: 1,
  });
  await run(t, 'refund', refunded.uuid, '--ineligible');
  assert.match(
    (await run(t, 'orders show', refunded.uuid)).out,
    /Honor Cord \(product 2\) {2}not to be sent/,
  );
});

test('what an upgrade brings is held once its membership has ended, and not for a payment that was none', async (t) => {
  const { uuid } = await join({ items: [PIN], takesUpgrade: true });
  await sql`
    with payment as (
      insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision)
      values ('pi_none', ${uuid}, 'join', 9, 'canceled', '', '', 6500, 9) returning intent_id)
    insert into membership (session_uuid, product_id, type, payment_intent, standing)
    select ${uuid}, 2, 'membership', intent_id, 'void' from payment`.execute(server.deps.database);
  const medallion = async () => of((await run(t, 'orders list', '--all')).out, uuid).at(-1);
  assert.equal(await medallion(), 'Engraved Medallion (product 10)  to send');
  await run(t, 'refund', uuid);
  assert.equal(
    await medallion(),
    'Engraved Medallion (product 10)  held: the membership that it upgrades has ended',
  );
  const packed = (await run(t, 'orders list', '--csv')).out;
  assert.match(packed, new RegExp(`,Lapel Pin,${uuid},`), 'it is not packed with what is to be sent');
  assert.equal((await run(t, 'orders ship', uuid, '--item', '10')).code, 0);
});

test('what somebody bought who was erased is sent nowhere', async (t) => {
  const { uuid } = await join();
  await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(server.deps.database);
  assert.deepEqual(of((await run(t, 'orders list', '--all')).out, uuid), []);
});

test('what is disputed is held: listed as such, left out of the packing list, and sent only when it is named', async (t) => {
  const { uuid, intentId } = await join();
  const charge = await chargeOf(server, intentId);
  const dispute = await server.stripeControl('disputes', { charge });
  await followPayment(server.deps, intentId);
  const listed = await run(t, 'orders list');
  assert.deepEqual(of(listed.out, uuid)[1], 'Honor Cord (product 2)  held: its payment is disputed');
  assert.match(listed.out, /^1 held: staff decide/m);
  assert.doesNotMatch((await run(t, 'orders list', '--csv')).out, new RegExp(uuid));
  assert.equal((await run(t, 'orders ship', uuid)).code, 1);
  assert.equal((await run(t, 'orders ship', uuid, '--item', '2')).code, 0);
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
  await followPayment(server.deps, intentId);
  assert.match((await run(t, 'orders show', uuid)).out, /sent on .*, and its money went back since/);
});

test('the packing list can be opened by a spreadsheet, whatever people call themselves', async (t) => {
  const person = {
    firstName: '=HYPERLINK("http://evil.example")',
    lastName: 'Ri"ver, a',
    address1: '+1 Oak Street',
    address2: '@home\u001b[2J',
  };
  const { uuid } = await join({ person, items: [PIN] });
  const { out } = await run(t, 'orders list', '--csv');
  assert.match(out, /^name,address1,address2,city,state,zip,country,items,join,paid\r\n/);
  const line = out.split('\r\n').find((text) => text.includes(uuid))!;
  assert.equal(
    line.trim(),
    `"'=HYPERLINK(""http://evil.example"") Ri""ver, a",'+1 Oak Street,'@home[2J,Austin,Texas,78701,United States,Honor Cord; Lapel Pin,${uuid},${today()}`,
  );
});

test('a parcel that has nowhere to go says so', async (t) => {
  const client = server.client();
  const body = { hubspotContactId: '103', mainProductId: 2 };
  const started = await client.call('initiateCheckout', { body });
  const { joinSessionUuid: uuid } = started.data;
  await payOrder(server, client, uuid);
  const listed = await run(t, 'orders list');
  assert.match(of(listed.out, uuid)[0]!, /Sam Okafor .* {2}NO ADDRESS$/);
  assert.match(listed.out, /^1 of them with no address\.$/m);
  assert.match((await run(t, 'orders list', '--csv')).out, /^Sam Okafor,no address,,,,,,Honor Cord,/m);
  assert.match((await run(t, 'orders show', uuid)).out, /^to {2}no address$/m);
});

test('two who ship at once ship once, and what is being refunded meanwhile is not sent', async (t) => {
  const { uuid } = await join({ items: [PIN] });
  const ship = (actor: string) => shipOrder(as(actor), uuid, { items: null, note: null });
  const both = await Promise.all(['A', 'B', 'C'].map(ship));
  assert.deepEqual(both.map(({ goods }) => goods.length).sort(), [0, 0, 2]);
  const raced = await join();
  await Promise.all([
    shipOrder(as('A'), raced.uuid, { items: null, note: null }),
    run(t, 'refund', raced.uuid),
  ]);
  const { out } = await run(t, 'orders show', raced.uuid);
  assert.match(out, /not to be sent: refunded|and its money went back since/);
});

test('who ships while somebody else does waits, and learns that it was sent', async () => {
  // The join needs a person of its own, since a refund locks all joins of the same person.
  const { uuid, intentId } = await join({ person: { personalEmail: 'sent.once@example.com' } });
  const { database } = server.deps;
  const { late } = await database.transaction().execute(async (trx) => {
    // Locks the join first, as the server does. Upgrading the lock of an insert could deadlock with the server's background work.
    await trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid).forUpdate().execute();
    const first = await trx
      .insertInto('shipment')
      .values({
        session_uuid: uuid,
        intent_id: intentId,
        line: 0,
        product_id: 2,
        goods: 'Cord',
        shipped_by: 'A',
        note: null,
      })
      .returning('id')
      .execute();
    assert.equal(first.length, 1);
    const late = shipOrder(as('B'), uuid, { items: null, note: null });
    await waiting(trx, 1);
    // Returned in an object, because the transaction would await a bare promise, and `late` waits for the transaction.
    return { late };
  });
  const { goods, others } = await late;
  assert.deepEqual(goods, []);
  assert.ok(others[0]!.state.is === 'sent' && others[0]!.state.shipment.shippedBy === 'A');
});

test('orders refuses what is not there, in a sentence', async (t) => {
  const { uuid } = await join({ membershipId: 1 });
  assert.equal((await run(t, 'orders list', '--all', '--csv')).code, 2);
  assert.match((await run(t, 'orders ship', uuid)).out, /has paid for nothing that is sent/);
  assert.match((await run(t, 'orders show', uuid)).out, /has paid for nothing that is sent/);
  const { uuid: pinned } = await join({ items: [PIN] });
  assert.match(
    (await run(t, 'orders ship', pinned, '--item', '31')).out,
    /has nothing to send of product 31\./,
  );
});

test('what an upgrade by link brings is held once its base has ended, and to send again when its holder joins anew', async (t) => {
  await paidJoin(server, server.client(), 'HONOR101');
  const { uuid } = await upgradeByLink(server, '101', { items: [PIN] });
  const goods = async () => of((await run(t, 'orders list', '--all')).out, uuid).slice(1);
  const toSend = ['Engraved Medallion (product 10)  to send', 'Lapel Pin (product 30)  to send'];
  assert.deepEqual(await goods(), toSend);
  const { out } = await run(t, 'orders show', uuid);
  assert.match(out, /^to {2}12 Oak Street, /m, "its contact's address");
  const { rows } = await sql<{ uuid: string }>`
    select session_uuid as uuid from membership where person_id = (select id from person where contact_id = '101') and type = 'membership'`.execute(
    server.deps.database,
  );
  await run(t, 'refund', rows[0]!.uuid);
  assert.deepEqual(await goods(), [
    'Engraved Medallion (product 10)  held: the membership that it upgrades has ended',
    'Lapel Pin (product 30)  to send',
  ]);
  await paidJoin(server, server.client(), 'HONOR101');
  assert.deepEqual(await goods(), toSend);
});

test('what an upgrade brings is to send though HubSpot ends a membership that was not bought here', async (t) => {
  const id = await newContact(server, 'member.elsewhere@example.com', { membership_status: 'member' });
  await server.deps.contacts.refresh(id);
  const { uuid } = await upgradeByLink(server, id);
  await editAtHubspot(server, id, { membership_status: 'former' });
  await server.deps.contacts.refresh(id);
  const { out } = await run(t, 'orders list');
  assert.equal(of(out, uuid).at(-1), 'Engraved Medallion (product 10)  to send');
});

test('what an upgrade brings is to send again when its holder joins anew', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'HONOR102');
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: intentId } });
  const medallion = async () => of((await run(t, 'orders list', '--all')).out, uuid).at(-1);
  await run(t, 'refund', uuid);
  assert.match((await medallion())!, / {2}held: the membership that it upgrades has ended$/);
  await paidJoin(server, server.client(), 'HONOR102');
  assert.equal(await medallion(), 'Engraved Medallion (product 10)  to send');
});

test('an item of which a part went back is sent, and its rest goes back by --items', async (t) => {
  const { uuid, intentId } = await join({ membershipId: 1, items: [PIN] });
  const pin = async () => of((await run(t, 'orders list', '--all')).out, uuid).at(-1);
  const { body } = await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '500' });
  await followPayment(server.deps, intentId);
  assert.match((await pin())!, / {2}held: some of its payment went back without saying what for$/);
  assert.equal((await run(t, 'refund assign', body.id, '--items', '30')).code, 0);
  assert.equal(await pin(), 'Lapel Pin (product 30)  to send');
  const { out } = await run(t, 'refund', uuid, '--no-membership', '--items', '30');
  assert.equal(out, `$7.00  Lapel Pin  (${intentId})\n$7.00 goes back.\n`);
  assert.equal(await pin(), 'Lapel Pin (product 30)  not to be sent: refunded');
});

test('goods of a payment that was refunded or disputed at Stripe a moment ago are not said to be sent', async (t) => {
  const { uuid, intentId } = await join({ items: [PIN] });
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  const shipped = await run(t, 'orders ship', uuid);
  assert.equal(shipped.code, 1);
  assert.match(shipped.out, /not to be sent/);
});

test('while Stripe does not answer nothing is recorded as sent, unless staff give --unasked', async (t) => {
  const { uuid, intentId } = await join({ items: [PIN] });
  await server.stripeFault({ kind: 'status', status: 500, times: 100 });
  const refused = await run(t, 'orders ship', uuid);
  assert.equal(refused.code, 1);
  assert.match(refused.out, new RegExp(`^Nothing was recorded: .*${intentId}.* --unasked`));
  const sent = await run(t, 'orders ship', uuid, '--unasked');
  await server.stripeFault(null);
  assert.equal(sent.code, 0);
});
