import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { dump } from '../../../tests/harness/dump.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { asTold, failRefund, membershipOnly, standingsOf } from '../../../tests/harness/refunds.ts';
import { noticesOf, paymentRow, staffNotices } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  details,
  newIntent,
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, membershipByLink, upgradeIntentOf } from '../../../tests/harness/upgrades.ts';
import { moveContacts } from '../crm/followMerges.ts';
import { findPeople } from '../joining/findJoins.ts';
import { sendDue } from '../letters/sendLetters.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { catchUpOnEvents } from './catchUp.ts';
import { reconcile } from './reconcile.ts';

/** By how much (ms) Stripe's clock is behind ours. New objects at Stripe get times that are this old. */
let behind = 0;
const server = await sharedServer({}, { hubspotLimits: 'off', stripeClock: () => Date.now() - behind });

const run = (statement: string) => sql.raw(statement).execute(server.deps.database);

const look = async () => (await reconcile(server.deps, { graceMinutes: 0 })).differences.map(asTold);
const joinsOf = async (email: string) =>
  (
    await sql<{
      uuid: string;
      name: string;
      state: string;
      origin: string;
      contact_id: string | null;
      paid: string[];
    }>`
      select uuid, concat_ws(' ', join_session.details ->> 'firstName', join_session.details ->> 'lastName') as name, state, origin, case when not made_contact then contact_id end as contact_id,
        array(select name from payment join order_snapshot snapshot on snapshot.session_uuid = payment.session_uuid
          and snapshot.kind = payment.kind and snapshot.revision = payment.revision, jsonb_to_recordset(items) as line (name text)
          where payment.session_uuid = uuid and status = 'succeeded' order by name) as paid
      from join_session join person on person.id = person_id where join_session.details ->> 'personalEmail' = ${email} order by paid_at`.execute(
      server.deps.database,
    )
  ).rows;

test('joins that were paid after the backup are made again from what Stripe knows, and nobody is to be refunded', async (t) => {
  const before = await newMember(server, 'LINCOLN2026', {
    firstName: 'Early',
    personalEmail: 'early@example.com',
  });
  const halfway = server.client();
  const open = await orderingJoin(halfway, 'LINCOLN2026', {
    firstName: 'Halfway',
    personalEmail: 'halfway@example.com',
  });
  const restore = await dump(server);

  await halfway.call('setCustomDonation', { params: { uuid: open }, body: { amount: '12.50' } });
  await payOrder(server, halfway, open);
  const client = server.client();
  const late = await paidJoin(server, client, 'LINCOLN2026', {
    firstName: 'Late',
    personalEmail: 'late@example.com',
  });
  await charge(client, late.uuid, late.intentId);
  const invited = await newMember(server, 'HONOR101', { personalEmail: 'invited@example.com' });
  const refunded = await newMember(server, 'LINCOLN2026', {
    firstName: 'Refunded',
    personalEmail: 'refunded@example.com',
  });
  await server.stripe('POST', '/v1/refunds', { payment_intent: refunded.intentId });
  assert.deepEqual(
    (await look()).map(({ kind }) => kind),
    ['refunds'],
  );

  await restore();
  const { out, code } = await runCommand(t, server, 'reconcile', []);
  assert.equal(code, 1);
  assert.equal(out.match(/not in this database: was it restored from a backup\?/g)?.length, 5, out);
  assert.doesNotMatch(out, /operator -- refund/, out);

  await server.stripe('POST', '/v1/refunds', { payment_intent: before.intentId });
  const settled = await runCommand(t, server, 'settle', ['--missing']);
  assert.equal(settled.code, 0, settled.out);
  assert.match(settled.out, /^5 payments were not in this database as paid, and are now\./);
  // Refunds from Stripe's dashboard were restored with their payments. This includes the refund of a payment that the backup had.
  assert.deepEqual(await look(), []);
  assert.deepEqual(await standingsOf(server, before.uuid), [{ type: 'membership', standing: 'refunded' }]);
  assert.deepEqual(await joinsOf('late@example.com'), [
    {
      uuid: late.uuid,
      name: 'Late Rivera',
      state: 'paid',
      origin: 'school',
      contact_id: null,
      paid: ['Distinguished Member upgrade', 'Membership'],
    },
  ]);
  const [again] = await joinsOf('halfway@example.com');
  assert.deepEqual(
    [again?.uuid, again?.state, again?.paid],
    [open, 'paid', ['Donation to scholarships', 'Membership']],
  );
  assert.deepEqual(
    (await joinsOf('invited@example.com')).map(({ uuid, contact_id }) => [uuid, contact_id]),
    [[invited.uuid, '101']],
  );
  assert.equal((await joinsOf('early@example.com'))[0]?.uuid, before.uuid);
  assert.equal((await runCommand(t, server, 'settle', ['--missing'])).out.slice(0, 10), '0 payments');
});

test('a join that is made again was paid when Stripe took its money, and its upgrade when that was paid', async (t) => {
  const restore = await dump(server);
  const hour = 3_600_000;
  const client = server.client();
  behind = 5 * hour;
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026', {
    personalEmail: 'dated@example.com',
  });
  behind = 3 * hour;
  await charge(client, uuid, intentId);
  behind = 0;
  await restore();
  assert.equal((await runCommand(t, server, 'settle', ['--missing'])).code, 0);
  const { rows } = await sql<{ kind: string; paid: Date; join: Date; begun: Date }>`
    select kind, succeeded_at as paid, paid_at as join, join_session.created_at as begun
    from payment join join_session on uuid = session_uuid
    where uuid = ${uuid} order by kind`.execute(server.deps.database);
  const hoursAgo = (date: Date) => Math.round((Date.now() - date.getTime()) / hour);
  assert.deepEqual(
    rows.map(({ kind, paid, join, begun }) => [kind, hoursAgo(paid), hoursAgo(join), hoursAgo(begun)]),
    [
      ['join', 5, 5, 5],
      ['upgrade', 3, 5, 5],
    ],
  );
});

test('a join that is made again is the one that was lost, by whatever way it came', async (t) => {
  const restore = await dump(server);
  const bySchool = await newMember(server, 'LINCOLN2026', { personalEmail: 'by.school@example.com' });
  const byCode = await newMember(server, 'HONOR102', { personalEmail: 'by.code@example.com' });
  const byLink = await membershipByLink(server, '103');
  const joins = async () =>
    (
      await sql`
        select uuid, state, origin, programme, case when not made_contact then contact_id end as contact, school, has_agreed_to_policies, revision
        from join_session join person on person.id = person_id where uuid in (${bySchool.uuid}, ${byCode.uuid}, ${byLink.uuid}) order by uuid`.execute(
        server.deps.database,
      )
    ).rows;
  const lost = await joins();
  await restore();
  assert.deepEqual([lost.length, await joins()], [3, []]);
  assert.equal((await runCommand(t, server, 'settle', ['--missing'])).code, 0);
  assert.deepEqual(await joins(), lost);
});

test('an upgrade whose join is missing names what to settle first, and is made again after it', async (t) => {
  const restore = await dump(server);
  const client = server.client();
  const person = { personalEmail: 'join.first@example.com' };
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026', person);
  await charge(client, uuid, intentId);
  const upgrade = await upgradeIntentOf(server, uuid);
  await restore();
  const settle = (id: string) => runCommand(t, server, 'settle', [id]);
  assert.deepEqual(await settle(upgrade), {
    out: `It is the upgrade of join ${uuid}, which is not in this database: settle the join's own payment first, or all. To make again what Stripe knows: npm run operator -- settle --missing\n`,
    code: 1,
  });
  for (const id of [intentId, upgrade]) assert.equal((await settle(id)).code, 0);
  const standings = (await standingsOf(server, uuid)).map(({ standing }) => standing);
  assert.deepEqual(standings, ['active', 'active']);
});

test('an order that the backup has as it was before its last change gets a later revision than the one that was paid', async (t) => {
  const { client, uuid } = await newOrder(server, 'LINCOLN2026', {
    personalEmail: 'before.change@example.com',
  });
  const revisionNow = async () =>
    (
      await server.deps.database
        .selectFrom('join_session')
        .select('revision')
        .where('uuid', '=', uuid)
        .executeTakeFirstOrThrow()
    ).revision;
  const restore = await dump(server);
  const before = await revisionNow();
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '12.50' } });
  const intent = await openIntent(client, uuid);
  await payByCard(server, intent.id);
  await restore();
  assert.deepEqual([await revisionNow(), intent.revision > before], [before, true]);
  const settled = await runCommand(t, server, 'settle', [intent.id]);
  assert.equal(settled.code, 0, settled.out);
  // The paid order's revision must not be used again. Otherwise a new order would be mistaken for the paid one.
  assert.ok((await revisionNow()) > intent.revision);
});

for (const [when, isIntentInBackup] of [
  ['before the order was offered', false],
  ['after it', true],
] as const)
  test(`an email that was corrected after a backup, made ${when}, gets the letters, and the contact of the one before is told nothing`, async (t) => {
    const [mistyped, personalEmail] = [
      `mistyped.${isIntentInBackup}@example.com`,
      `Payer.${isIntentInBackup}@example.com`,
    ];
    const stranger = await newContact(server, mistyped);
    const { client, uuid } = await newOrder(server, 'LINCOLN2026', { personalEmail: mistyped });
    if (isIntentInBackup) await openIntent(client, uuid);
    await deliver(server);
    // Simulates that the server found a contact with the mistyped email in HubSpot before the join was paid.
    await run(
      `update person set found_contact_id = '${stranger}', contact_id = null, made_contact = false from join_session where person.id = person_id and uuid = '${uuid}'`,
    );
    const restore = await dump(server);
    await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
    const { intentId } = await payOrder(server, client, uuid);
    await restore();
    assert.equal((await runCommand(t, server, 'settle', ['--missing'])).code, 0);
    assert.deepEqual(
      (await joinsOf(personalEmail)).map((join) => [join.uuid, join.state]),
      [[uuid, 'paid']],
      intentId,
    );
    await deliver(server);
    assert.equal((await atHubspot(server, stranger, 'membership_status')).membership_status, null);
    while (await sendDue(server.deps, server.deps.config.mail!));
    const letters = (await server.letters()).map(({ raw }) => raw);
    const sentTo = (email: string) =>
      letters.filter((raw) => new RegExp(`^To: .*${email}`, 'm').test(raw)).length;
    assert.deepEqual([sentTo(mistyped), sentTo(personalEmail) > 0], [0, true]);
  });

test('a join that is made again keeps the email of its details where Stripe has none, another spelling, or another one instead', async (t) => {
  for (const [given, atStripe] of [
    ['ünder@example.com', 'jordan.rivera@example.com'],
    ['kept@example.com', ''],
    ['KEPT.case@example.com', 'kept.case@example.com'],
  ] as const) {
    const { client, uuid } = await newOrder(server, 'LINCOLN2026', {
      personalEmail: given,
      firstName: 'Kept',
    });
    const restore = await dump(server);
    const { id } = await openIntent(client, uuid);
    await server.stripe('POST', `/v1/payment_intents/${id}`, { receipt_email: atStripe });
    await payByCard(server, id);
    assert.equal((await server.deps.payments.retrieveIntent(id)).receiptEmail, atStripe || null);
    await restore();
    assert.equal((await runCommand(t, server, 'settle', ['--missing'])).code, 0);
    assert.deepEqual(
      (await joinsOf(given)).map((join) => [join.uuid, join.state]),
      [[uuid, 'paid']],
    );
  }
});

test('what Stripe does not tell is not made up: the payment is to be given back', async (t) => {
  const { body } = await server.stripe('POST', '/v1/payment_intents', {
    amount: '6500',
    currency: 'usd',
    'allowed_payment_method_types[0]': 'card',
    'metadata[app]': 'induct',
    'metadata[environment]': server.deps.environment,
    'metadata[session]': '00000000-0000-4000-8000-000000000001',
    'metadata[kind]': 'join',
    'metadata[revision]': '1',
    'metadata[lines]': '1 membership 65.00 Membership',
  });
  await server.stripe('POST', `/v1/payment_intents/${body.id}/confirm`, {
    payment_method: 'pm_card_visa',
    return_url: server.url,
  });
  const { code, out } = await runCommand(t, server, 'settle', [body.id]);
  assert.equal(code, 1);
  assert.equal(
    out,
    `Stripe took $65.00 and does not say of whom the join is, so it cannot be made again. To give it back: npm run operator -- refund ${body.id}\n`,
  );
  assert.deepEqual(
    (await look()).map(({ kind }) => kind),
    ['nothing_sold'],
  );
  // Lines in an intent's metadata are refused if their sum differs from the intent's amount.
  await server.stripe('POST', `/v1/payment_intents/${body.id}`, {
    'metadata[lines]': '1 membership 95.00 Membership',
  });
  assert.match(
    (await runCommand(t, server, 'settle', [body.id])).out,
    /^Stripe took \$65\.00 and does not say for what/,
  );
});

test('many payments that are not in the database are one notice and one line in the log', async (t) => {
  const restore = await dump(server);
  for (let person = 0; person < 4; person++)
    await paidJoin(server, server.client(), 'LINCOLN2026', {
      ...details(),
      firstName: `Person${person}`,
      personalEmail: `person${person}@example.com`,
    });
  await restore();
  const errors = t.mock.method(server.deps.log, 'error', () => {});
  for (let turn = 0; turn < 3; turn++) {
    await run(
      "update schedule set due_at = now(); update event_retry set next_try_at = now() - interval '1 minute'",
    );
    await catchUpOnEvents(server.deps);
  }
  assert.deepEqual(
    (await staffNotices(server, { kind: 'background' })).map((text) => text.slice(0, 118)),
    [
      'In the background events of Stripe could not be acted on: A payment is of a join that is not in this database. Was it ',
    ],
  );
  assert.equal(errors.mock.callCount(), 3, 'one for each turn');
});

for (const [whose, minutes] of [
  ['of the same email', 0],
  ['of the same email that was told minutes after it was paid', 5],
  ['that it created', 0],
] as const)
  test(`a school join that is made again goes on telling the contact ${whose}`, async (t) => {
    const email = `${whose.replaceAll(' ', '.')}@example.com`;
    if (whose !== 'that it created')
      await server.hubspot.createContacts([{ mark: email, id: null, properties: { email } }]);
    const restore = await dump(server);
    behind = minutes * 60_000;
    t.after(() => {
      behind = 0;
    });
    const { client, uuid } = await newOrder(server, 'LINCOLN2026', { personalEmail: email });
    await deliver(server);
    const { intentId } = await payOrder(server, client, uuid);
    await deliver(server);
    const { id } = (await server.hubspot.findByEmail(email))!;
    const status = async () => (await atHubspot(server, id, 'membership_status')).membership_status;
    assert.equal(await status(), 'member');
    await restore();
    assert.equal((await runCommand(t, server, 'settle', [intentId])).code, 0);
    await deliver(server);
    assert.deepEqual(await noticesOf(server, uuid), []);
    await refundJoin(server.deps, uuid, membershipOnly);
    await deliver(server);
    assert.equal(await status(), 'former');
  });

test('a contact whom the lost payment has made a member is not told to staff as one who was a member before', async (t) => {
  const personalEmail = 'member.by.this@example.com';
  const id = await newContact(server, personalEmail, {});
  await server.deps.contacts.refresh(id);
  await server.deps.database
    .insertInto('invitation')
    .values({ code: 'BYTHIS1', person_id: personId(id) })
    .execute();
  const { client, uuid } = await newOrder(server, 'BYTHIS1', { personalEmail });
  const restore = await dump(server);
  const { intentId } = await payOrder(server, client, uuid);
  await deliver(server);
  await restore();
  await server.deps.contacts.refresh(id);
  assert.equal((await runCommand(t, server, 'settle', [intentId])).code, 0);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  assert.deepEqual(await noticesOf(server, uuid), []);
});

test('a payment counts as made when the card was charged, not when its form was opened', async (t) => {
  const { database } = server.deps;
  await database.insertInto('person').values({ contact_id: '8101', profile: '{}' }).execute();
  await database
    .insertInto('invitation')
    .values({ code: 'SLOW8101', person_id: personId('8101') })
    .execute();
  t.after(() => (behind = 0));
  const HOUR_MS = 3_600_000;
  behind = 3 * HOUR_MS;
  const slow = await orderingJoin(server.client(), 'SLOW8101');
  const opened = await openIntent(server.client(), slow);
  behind = 2 * HOUR_MS;
  const first = await newMember(server, 'SLOW8101');
  const restore = await dump(server);
  behind = HOUR_MS;
  await refundJoin(server.deps, first.uuid, membershipOnly);
  behind = 0;
  await payByCard(server, opened.id);
  assert.equal(await confirmPayment(server.deps, opened.id), 'succeeded');
  // A failed refund does not show when it was made. Only the times of the two payments show that the first membership had ended.
  await failRefund(server, first.intentId);
  const standings = async () => [await standingsOf(server, first.uuid), await standingsOf(server, slow)];
  const before = await standings();
  assert.deepEqual(before, [
    [{ type: 'membership', standing: 'refunded' }],
    [{ type: 'membership', standing: 'active' }],
  ]);
  await restore();
  // The command's output also contains payments of other tests, which cannot be made again. It is not checked.
  await runCommand(t, server, 'settle', ['--missing']);
  assert.deepEqual(await standings(), before);
});

test('a second payment with another email that is made again leaves the email of its paid join', async (t) => {
  const {
    client,
    uuid,
    intent: earlier,
  } = await newIntent(server, 'LINCOLN2026', { personalEmail: 'first.email@example.com' });
  await server.stripe('POST', `/v1/payment_intents/${earlier.id}`, { receipt_email: 'earlier@example.com' });
  await payByCard(server, earlier.id);
  await run(`update payment set status = 'canceled' where session_uuid = '${uuid}'`);
  const { intentId } = await payOrder(server, client, uuid);
  assert.notEqual(intentId, earlier.id);
  await runCommand(t, server, 'settle', ['--missing']);
  const { status } = await paymentRow(server, earlier.id);
  assert.equal(status, 'duplicate');
  const [join] = await joinsOf('first.email@example.com');
  assert.deepEqual([join?.uuid, join?.state], [uuid, 'paid']);
});

test('a join that is made again is of the person who remained if its contact was merged since, and its person is found', async (t) => {
  const { database } = server.deps;
  for (const id of ['8301', '8302', '8303'])
    await database.insertInto('person').values({ contact_id: id, profile: '{}' }).execute();
  await database
    .insertInto('invitation')
    .values({ code: 'MERGED8301', person_id: personId('8301') })
    .execute();
  const restore = await dump(server);
  const given = (name: string) => ({
    firstName: 'Made',
    lastName: 'Again',
    personalEmail: `${name}@example.com`,
  });
  const invited = await paidJoin(server, server.client(), 'MERGED8301', given('merged.invited'));
  const nominated = await paidJoin(server, server.client(), undefined, given('merged.nominated'));
  await restore();
  for (const [old, present] of [
    ['8301', '8302'],
    ['8302', '8303'],
  ] as const)
    await database.transaction().execute((trx) => moveContacts(trx, [{ old, present }]));
  for (const { intentId } of [invited, nominated])
    assert.equal((await runCommand(t, server, 'settle', [intentId])).code, 0);
  const { rows } = await sql`
    select contact_id, likeness, made.details ->> 'lastName' as name, membership.person_id = made.id as is_holder
    from join_session join person made on made.id = person_id join membership on session_uuid = uuid
    where uuid = any(${[invited.uuid, nominated.uuid]}::uuid[]) order by contact_id`.execute(database);
  assert.deepEqual(rows, [
    { contact_id: '8303', likeness: 'merged.invited@example.com made again', name: 'Again', is_holder: true },
    { contact_id: null, likeness: 'merged.nominated@example.com made again', name: 'Again', is_holder: true },
  ]);
  for (const [text, { uuid }] of [
    ['merged.invited@example', invited],
    ['merged.nominated@example', nominated],
  ] as const)
    assert.deepEqual(
      (await findPeople(server.deps, text, 9)).joins.map((join) => join.uuid),
      [uuid],
    );
});
