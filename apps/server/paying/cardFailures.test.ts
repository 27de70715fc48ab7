import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import { joinRow, stateOf } from '../../../tests/harness/rows.ts';
import { settingsFor } from '../../../tests/harness/standIns.ts';
import {
  askIntent,
  beginPayment,
  details,
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  payByCard,
  reportPayment,
  secondLater,
  statusAtStripe,
} from '../../../tests/harness/steps.ts';
import { isLong } from '../../../tests/harness/testLength.ts';
import { type Client, limitWith, sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { charge, declineSavedCard } from '../../../tests/harness/upgrades.ts';
import { readConfig } from '../platform/config/config.ts';
import type { Limit } from '../platform/config/limits.ts';
import type { ProviderEvent } from '../providers/stripe/provider.ts';
import { noteFailure } from './cardFailures.ts';
import { handleEvent } from './handleEvent.ts';
import { settlePaying } from './settlePaying.ts';

const server = await sharedServer(
  {
    LIMITS: 'on',
    LIMIT_CARD_FAILURES_PER_SESSION: '3/10',
    LIMIT_CARD_FAILURES_PER_ADDRESS: '9/60',
    LIMIT_INTENTS_PER_SESSION: '4/60',
  },
  { hubspotLimits: 'off' },
);

/** Returns the event in which Stripe reports that a charge of an intent failed, by default its latest. */
async function failedEvent(intentId: string, name: string, change: Partial<ProviderEvent> = {}) {
  const { metadata, charge } = await server.deps.payments.retrieveIntent(intentId);
  return {
    id: `evt_${intentId}_${name}`,
    type: 'payment_intent.payment_failed',
    createdAt: new Date(),
    intentId,
    metadata,
    failedChargeId: charge?.id ?? null,
    ...change,
  };
}
const forget = () => sql`delete from card_failure`.execute(server.deps.database);

/** Makes the page's calls for a card that is declined: begin, confirm, release. */
async function decline(client: Client, uuid: string): Promise<string> {
  await secondLater(server);
  const { id, revision } = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
  assert.equal((await payByCard(server, id, 'pm_card_chargeDeclined')).status, 402);
  await client.call('releasePayment', { params: { uuid }, body: {} });
  return id;
}

test('after three declined cards a join has to wait, each time; its intent is cancelled, and after the wait another card pays', async () => {
  const { client, uuid } = await newOrder(server);
  const id = await decline(client, uuid);
  assert.equal(await decline(client, uuid), id, 'the same intent takes the next card');
  await decline(client, uuid);
  assert.equal(await statusAtStripe(server, id), 'canceled', 'nobody can go on with its secret');
  const refused = await askIntent(client, uuid);
  const wait = Number(refused.headers.get('retry-after'));
  assert.deepEqual([refused.status, wait > 590 && wait <= 600], [429, true]);
  assert.equal(
    refused.message,
    'Too many cards were declined. Please wait 10 minutes and try again. Nothing was charged.',
  );
  const wait10Minutes = () =>
    sql`update card_failure set created_at = created_at - interval '10 minutes'`.execute(
      server.deps.database,
    );
  await wait10Minutes();
  for (const _again of [1, 2]) {
    await decline(client, uuid);
    assert.equal((await askIntent(client, uuid)).status, 200, 'those of before the wait count no more');
  }
  await decline(client, uuid);
  assert.equal((await askIntent(client, uuid)).status, 429);
  await wait10Minutes();
  const next = await openIntent(client, uuid);
  assert.notEqual(next.id, id);
  assert.equal((await beginPayment(client, uuid, next.revision)).status, 200);
  assert.equal((await payByCard(server, next.id)).status, 200);
  await forget();
});

test('cards tried behind our back, with the secret alone, are counted by what Stripe reports, each once', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  for (const tried of [1, 2, 3]) {
    assert.equal((await payByCard(server, id, 'pm_card_chargeDeclined')).status, 402);
    const event = await failedEvent(id, `${tried}`);
    // Stripe delivers the same event twice, then another event about the same failed charge.
    await handleEvent(server.deps, event);
    await handleEvent(server.deps, event);
    await handleEvent(server.deps, { ...event, id: `${event.id}_again` });
    const { rows } = await sql`select from card_failure where session_uuid = ${uuid}`.execute(
      server.deps.database,
    );
    assert.equal(rows.length, tried);
  }
  assert.equal(await statusAtStripe(server, id), 'canceled');
  assert.equal((await askIntent(client, uuid)).status, 429);
  await forget();
});

test('declined cards whose webhooks come late, all together, are all counted', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  for (let tried = 0; tried < 12; tried++)
    assert.equal((await payByCard(server, id, 'pm_card_chargeDeclined')).status, 402);
  const since = new Date(Date.now() - 60_000);
  const { payments } = server.deps;
  for await (const event of payments.listEvents(['payment_intent.payment_failed'], since))
    if (event.intentId === id) await handleEvent(server.deps, event);
  const { rows } = await sql<{ counted: number }>`
    select count(*)::int as counted from card_failure where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.deepEqual([rows[0]?.counted, await statusAtStripe(server, id)], [12, 'canceled']);
  await forget();
});

test('a decline that is reported after the next card has paid is counted, and the card that paid is not', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  assert.equal((await payByCard(server, id, 'pm_card_chargeDeclined')).status, 402);
  const late = await failedEvent(id, 'late');
  assert.equal((await payByCard(server, id)).status, 200);
  await handleEvent(server.deps, late);
  const counted = await sql<{ charge_id: string }>`
    select charge_id from card_failure where session_uuid = ${uuid}`.execute(server.deps.database);
  assert.deepEqual(counted.rows, [{ charge_id: late.failedChargeId }]);
  await forget();
});

/** Makes a join with three declined cards, each dated `createdAt` by Stripe. */
async function declinedAt(client: Client, createdAt: Date): Promise<string> {
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  for (const number of [1, 2, 3]) {
    const failedChargeId = `ch_${id}_${number}`;
    await handleEvent(server.deps, await failedEvent(id, `${number}`, { createdAt, failedChargeId }));
  }
  return uuid;
}

test('a declined card that is reported a day late counts for the time at which it was declined', async () => {
  const client = server.client();
  const uuid = await declinedAt(client, new Date(Date.now() - 86_400_000));
  assert.equal((await askIntent(client, uuid)).status, 200, 'nobody has to wait for yesterday');
  const { id } = await openIntent(client, uuid);
  const intent = await server.deps.payments.retrieveIntent(id);
  const createdAt = new Date(Date.now() - 86_400_000);
  for (const number of [4, 5, 6]) {
    const charge = {
      id: `ch_${id}_${number}`,
      createdAt,
      isDeclined: true,
      refundedCents: 0,
      isDisputed: false,
    };
    await noteFailure(server.deps, { ...intent, charge });
  }
  assert.equal((await askIntent(client, uuid)).status, 200, 'whoever reports it');
  await forget();
});

test("where Stripe's clock is ahead nobody waits longer than the limit says", async () => {
  const client = server.client();
  const uuid = await declinedAt(client, new Date(Date.now() + 3_600_000));
  const refused = await askIntent(client, uuid);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) <= 600, `${refused.headers.get('retry-after')} s`);
  await forget();
});

test('many joins from one address wait together, and the counts hold on every server', async (t) => {
  const uuids: string[] = [];
  for (let join = 0; join < 4; join++) {
    const { client, uuid } = await newOrder(server);
    uuids.push(uuid);
    for (let card = 0; card < 2; card++) await decline(client, uuid);
  }
  const other = server.client();
  const waiting = await orderingJoin(other);
  assert.equal((await askIntent(other, waiting)).status, 200);
  await decline(server.client(), uuids[0]!);
  const { revision } = (await askIntent(other, waiting)).data;
  const refused = await beginPayment(other, waiting, revision);
  assert.equal(refused.status, 429, 'it has an intent, and may not begin to pay');
  assert.ok(Number(refused.headers.get('retry-after')) > 3500);
  const another = await startTestServer({ ...server.env, DATABASE_URL: server.deps.config.databaseUrl });
  t.after(() => another.close());
  const there = another.client();
  assert.equal((await beginPayment(there, waiting, revision)).status, 429, 'by another server, too');
  const elsewhere = await orderingJoin(other);
  await sql`update join_session set address_hash = 'another' where uuid = ${elsewhere}`.execute(
    server.deps.database,
  );
  assert.equal((await askIntent(other, elsewhere)).status, 200);
  await forget();
});

test('a join gets no more intents than the limit', async () => {
  const { client, uuid } = await newOrder(server);
  for (let attempt = 1; attempt <= 4; attempt++) {
    const { id } = await openIntent(client, uuid);
    await server.stripe('POST', `/v1/payment_intents/${id}/cancel`);
    await sql`update payment set status = 'canceled' where intent_id = ${id}`.execute(server.deps.database);
  }
  const refused = await askIntent(client, uuid);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '3600']);
  await sql`update payment set created_at = now() - interval '1 hour' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal((await askIntent(client, uuid)).status, 200);
});

/** Sets other limits for the rest of a test. Moves the joins of earlier tests to another address, and deletes all counts. */
async function limitAnew(t: TestContext, limits: Record<string, string>): Promise<void> {
  const { config, database } = server.deps;
  const before = config.limits;
  limitWith(t, server, limits);
  t.after(() => {
    config.limits = before;
  });
  await sql`update join_session set address_hash = 'another'`.execute(database);
  await sql`delete from limit_count`.execute(database);
  await forget();
}

test('an address gets no more intents than its limit, and an intent that is there goes on', async (t) => {
  await limitAnew(t, { LIMIT_INTENTS_PER_ADDRESS: '2/60' });
  const client = server.client();
  const uuids = [await orderingJoin(client), await orderingJoin(client), await orderingJoin(client)];
  await forgetRequests(server.stripeUrl);
  const statuses: number[] = [];
  for (const uuid of [...uuids, uuids[0]!]) statuses.push((await askIntent(client, uuid)).status);
  assert.deepEqual(statuses, [200, 200, 429, 200]);
  const made = (await requestsTo(server.stripeUrl)).filter(({ path }) => path === '/v1/payment_intents');
  assert.equal(made.length, 2, 'Stripe is not asked for one that is refused');
});

test('a failure that Stripe reports late does not open an order whose next card is on its way', async () => {
  const { client, uuid } = await newOrder(server);
  const { id, revision } = await openIntent(client, uuid);
  const failedAt = async (createdAt: Date) =>
    handleEvent(server.deps, await failedEvent(id, `${createdAt.getTime()}`, { createdAt }));
  await beginPayment(client, uuid, revision);
  await failedAt(new Date(Date.now() - 3_600_000));
  assert.equal(await stateOf(server, uuid), 'paying');
  // The payment began 900 ms into a second. Stripe dates the failure at the start of that second, since it truncates times to
  // seconds.
  await sql`update join_session set paying_since = date_trunc('second', now()) + interval '900 ms' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const { paying_since } = await joinRow(server, uuid);
  await failedAt(new Date(paying_since!.getTime() - 900));
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('a try that begins while Stripe is asked about the last one stays frozen', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { revision } = await openIntent(client, uuid);
  await beginPayment(client, uuid, revision);
  const { database, payments } = server.deps;
  const ask = payments.retrieveIntent;
  t.mock.method(payments, 'retrieveIntent', async (id: string) => {
    const seen = await ask(id);
    // Meanwhile another tab has reopened the order and begun to pay once more.
    await sql`update join_session set paying_since = clock_timestamp() where uuid = ${uuid}`.execute(
      database,
    );
    return seen;
  });
  assert.equal(await settlePaying(server.deps, uuid, 'failed'), 'paying');
  assert.equal(await stateOf(server, uuid), 'paying');
});

/** The number of pupils. The limits by address are scaled in proportion: they are set for 300 pupils. */
const PUPILS = isLong ? 300 : 20;
const countMembers = async () =>
  (await sql`select from membership where is_held`.execute(server.deps.database)).rows.length;
const limitOfAddress = ({ count, minutes }: Limit) => `${Math.floor((count * PUPILS) / 300)}/${minutes}`;

test('a school of 300 behind one address joins in one lesson without meeting a limit', async (t) => {
  const usual = readConfig(settingsFor(server, server.deps.config.databaseUrl, '.')).limits!;
  await limitAnew(t, {
    LIMIT_WRONG_CODES_PER_ADDRESS: limitOfAddress(usual.wrongCodesPerAddress),
    LIMIT_JOINS_PER_ADDRESS: limitOfAddress(usual.joinsPerAddress),
    LIMIT_INTENTS_PER_ADDRESS: limitOfAddress(usual.intentsPerAddress),
    LIMIT_CARD_FAILURES_PER_ADDRESS: limitOfAddress(usual.cardFailuresPerAddress),
  });
  const before = await countMembers();
  const met: string[] = [];
  let next = 0;
  const note = (step: string, { status }: { status: number }) => {
    if (status >= 400) met.push(`${step}: ${status}`);
  };
  async function pupil(number: number): Promise<void> {
    const client = server.client();
    // Every twentieth pupil first mistypes the code, and every tenth pupil's first card is declined.
    if (number % 20 === 0)
      note(
        'a wrong code',
        await client.call('checkEligibility', { body: { invitationCode: `LINCLN${number}` } }),
      );
    note('code', await client.call('checkEligibility', { body: { invitationCode: 'LINCOLN2026' } }));
    const started = await client.call('initiateSchoolJoin', { body: { invitationCode: 'LINCOLN2026' } });
    note('start', started);
    const { uuid } = started.data;
    const personalEmail = `pupil${number}@example.com`;
    note(
      'details',
      await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) }),
    );
    note('membership', await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } }));
    const intent = await openIntent(client, uuid);
    const { id, revision } = intent;
    if (number % 10 === 0) {
      note('begin', await beginPayment(client, uuid, revision));
      await payByCard(server, id, 'pm_card_chargeDeclined');
      note('release', await client.call('releasePayment', { params: { uuid }, body: {} }));
    }
    note('begin', await beginPayment(client, uuid, revision));
    await payByCard(server, id);
    const paid = await reportPayment(client, uuid, intent);
    note('paid', paid);
    if (paid.data.status !== 'succeeded') met.push(`payment: ${paid.data.status}`);
    note('skip', await client.call('skipUpgrade', { params: { uuid }, body: {} }));
  }
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      while (next < PUPILS) await pupil(next++);
    }),
  );
  assert.deepEqual(met, []);
  const { rows } = await sql`select from card_failure`.execute(server.deps.database);
  assert.deepEqual([(await countMembers()) - before, rows.length], [PUPILS, PUPILS / 10]);
});

test('a decline that is reported late does not cancel the next card, which its bank is asking about', async () => {
  const { client, uuid } = await newOrder(server);
  await decline(client, uuid);
  const id = await decline(client, uuid);
  const { revision } = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
  assert.equal((await payByCard(server, id, 'pm_card_chargeDeclined')).status, 402);
  const late = await failedEvent(id, 'late');
  await payByCard(server, id, 'pm_card_threeDSecure2Required');
  await secondLater(server);
  await handleEvent(server.deps, late);
  assert.equal(await statusAtStripe(server, id), 'requires_action');
  assert.equal((await askIntent(client, uuid)).status, 200);
  await forget();
});

test('a saved card that is declined for the upgrade counts before any webhook tells of it', async () => {
  const { client, uuid, intentId } = await newMember(server);
  await declineSavedCard(server, uuid, 'insufficient_funds');
  assert.equal((await charge(client, uuid, intentId)).data.status, 'failed');
  const { rows } = await sql`select from card_failure where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(rows.length, 1);
});

test('a card that its bank is still deciding on is not counted as declined', async () => {
  const { client, uuid } = await newOrder(server);
  const id = await decline(client, uuid);
  const path = `/v1/payment_intents/${id}`;
  const { body } = await server.stripe('GET', `${path}?expand[]=payment_method&expand[]=latest_charge`);
  const pending = { ...(body.latest_charge as unknown as object), id: 'ch_pending', status: 'pending' };
  const answer = { ...body, status: 'processing', latest_charge: pending };
  await server.stripeFault({ kind: 'status', status: 200, method: 'GET', path, body: answer });
  await noteFailure(server.deps, await server.deps.payments.retrieveIntent(id));
  const { rows } = await sql`select from card_failure where charge_id = 'ch_pending'`.execute(
    server.deps.database,
  );
  assert.equal(rows.length, 0);
  await forget();
});
