import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { metricsOf, sampleOf, samplesOf, scrape } from '../../../tests/harness/scrape.ts';
import { startServerProcess, withSettings } from '../../../tests/harness/serverProcess.ts';
import { beginPayment, openIntent, orderingJoin, paidJoin, payByCard } from '../../../tests/harness/steps.ts';
import { sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { connect } from '../platform/database/client.ts';

const server = await sharedServer();

/** Serves metrics until the end of the test. Values from the database are reused for `keptMs`. */
async function watched(t: TestContext, keptMs = 0) {
  const metrics = await metricsOf(server, keptMs);
  t.after(() => metrics.close());
  return metrics;
}

const number = (page: string, name: string, ...labels: string[]) => sampleOf(page, name, ...labels) ?? 0;

/** Returns by how much the sum of the matching samples has grown between two metrics pages. */
const growth = (before: string, after: string, name: string, ...labels: string[]) =>
  number(after, name, ...labels) - number(before, name, ...labels);

test('requests, joins, payments and calls to providers are counted as they happen', async (t) => {
  const { scrape } = await watched(t);
  const before = await scrape();
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  const again = await orderingJoin(client, 'LINCOLN2026', { firstName: 'Sam' });
  const intent = await openIntent(client, again);
  await beginPayment(client, again, intent.revision);
  await payByCard(server, intent.id, 'pm_card_chargeDeclined');
  await client.call('releasePayment', { params: { uuid: again } });
  await client.fetch(`/api/public/join-session/${randomUUID()}/welcome`);
  await client.fetch(`/registration/${uuid}/nothing?email=somebody@example.com`);
  const requests = 'induct_http_request_duration_seconds_count';
  let after = before;
  // A request is counted after its answer, and a declined card when Stripe's event arrives.
  await until(async () => {
    after = await scrape();
    return (
      growth(before, after, requests, 'route="none"') === 1 &&
      growth(before, after, 'induct_payments_total', 'outcome="declined"') === 1
    );
  });

  const route = 'route="/api/public/join-session/:uuid/begin-payment"';
  assert.equal(growth(before, after, requests, route, 'method="POST"', 'status="200"'), 2);
  assert.equal(
    growth(before, after, requests, 'route="/api/public/join-session/:uuid/welcome"', 'status="404"'),
    1,
  );
  assert.equal(growth(before, after, 'induct_joins_total', 'stage="started"'), 2);
  assert.equal(growth(before, after, 'induct_joins_total', 'stage="ordering"'), 2);
  assert.equal(growth(before, after, 'induct_joins_total', 'stage="paid"'), 1);
  assert.equal(growth(before, after, 'induct_payments_total', 'outcome="succeeded"', 'kind="join"'), 1);
  const calls = 'induct_provider_call_duration_seconds_count';
  assert.equal(
    growth(before, after, calls, 'provider="stripe"', 'operation="POST /v1/payment_intents"', 'result="ok"'),
    2,
  );
  assert.ok(number(after, 'induct_database_connections', 'pool="calls"', 'state="open"') > 0);
  assert.ok(number(after, 'nodejs_eventloop_lag_p99_seconds') > 0);
  assert.ok(number(after, 'induct_disk_free_bytes', 'folder="documents"') > 0);
});

test('nothing in it is of a person, a session or a path', async (t) => {
  const { scrape } = await watched(t);
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'HONOR102');
  await server.hubspot.getContact('103', 5_000);
  await server.hubspot.findByEmail('jordan.rivera@example.com');
  await client.fetch(`/upload/${uuid}?vid=${uuid}`);
  const page = await scrape();
  assert.match(page, /operation="GET \/crm\/objects\/[\d-]+\/contacts\/:id"/);
  for (const secret of [uuid, intentId, 'rivera', '/103', 'pi_', '@', '%40', 'HONOR102'])
    assert.ok(!page.toLowerCase().includes(secret.toLowerCase()), secret);
});

test('every queue shows how much waits and for how long, whoever else looks meanwhile', async (t) => {
  const { scrape } = await watched(t);
  const { uuid, intentId } = await paidJoin(server, server.client());
  const { database } = server.deps;
  const hours = (count: number) => sql`now() - make_interval(hours => ${count}::int)`;
  const waiting = [
    sql`update crm_delivery set due_since = ${hours(1)}, due_at = now() where person_id = (select person_id from join_session where uuid = ${uuid})`,
    sql`update letter set due_at = ${hours(2)}, next_try_at = now() + interval '4 hours'
      where session_uuid = ${uuid} and kind = 'confirmation'`,
    sql`insert into person (contact_id, profile) values ('991', '{}')`,
    sql`insert into document (id, kind, person_id, name, media_type, size_bytes, sha256, storage_key, created_at)
      values (${randomUUID()}, 'resume', (select id from person where contact_id = '991'), 'resume.pdf', 'application/pdf', 1, '', 'key', ${hours(3)})`,
    sql`insert into refund (intent_id, amount_cents, reason, status, created_at) values (${intentId}, 1, 'requested', 'due', ${hours(4)})`,
    sql`insert into event_retry (id, event, attempts, next_try_at, created_at) values ('evt_1', '{}', 1, now(), ${hours(5)})`,
    sql`insert into pass_request (email, created_at) values ('sam@example.com', ${hours(7)})`,
  ];
  for (const statement of waiting) await statement.execute(database);
  const page = await scrape();
  const queues = { crm: 1, letters: 2, documents: 3, refunds: 4, events: 5, links: 7 };
  for (const [queue, hoursOld] of Object.entries(queues)) {
    assert.ok(number(page, 'induct_queue_size', `queue="${queue}"`) >= 1, queue);
    const oldest = number(page, 'induct_queue_oldest_seconds', `queue="${queue}"`);
    assert.ok(oldest >= hoursOld * 3600 && oldest < hoursOld * 3600 + 600, `${queue} ${oldest}`);
  }
  assert.equal(number(page, 'induct_breaker_open', 'provider="hubspot"'), 0);
  assert.equal(number(page, 'induct_breaker_open', 'provider="mail"'), 0);
  // Before the first reconciliation, the metric must be absent instead of 0.
  assert.equal(sampleOf(page, 'induct_reconciliation_differences'), undefined);
  await sql`insert into reconciliation (started_at, finished_at, counts, differences) values (now(), ${hours(1)}, '{}', '[{}, {}]')`.execute(
    database,
  );
  const later = await scrape();
  assert.equal(sampleOf(later, 'induct_reconciliation_differences'), 2);
  assert.ok(number(later, 'induct_reconciliation_age_seconds') >= 3600);
});

test('what was done, was refused or is due later is in no queue', async (t) => {
  const { scrape } = await watched(t);
  const { uuid, intentId } = await paidJoin(server, server.client());
  const documents = [
    "crm_note_id = '1', crm_next_try_at = null",
    "crm_refusal = 'no'",
    "review = 'rejected', reason = 'unreadable', reviewed_at = now()",
  ];
  const letters = [
    'sent_at = now()',
    "refusal = 'no'",
    'withdrawn_at = now()',
    "due_at = now() + interval '2 hours'",
  ];
  const statements = [
    'delete from pass_request',
    'delete from refund',
    'delete from event_retry',
    'delete from document',
    'delete from letter where due_at <= now()',
    "update crm_delivery set refusal = 'no', due_since = now(), due_at = now()",
    `update crm_delivery set refusal = null, due_since = null, due_at = null where person_id = (select person_id from join_session where uuid = '${uuid}')`,
    `update person set contact_id = '992', made_contact = true from join_session where person.id = person_id and uuid = '${uuid}'`,
    `insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key)
      select gen_random_uuid(), 'transcript', '${uuid}', 'a.pdf', 'application/pdf', 1, '', 'key ' || n from generate_series(0, 2) as n`,
    ...documents.map((done, index) => `update document set ${done} where storage_key = 'key ${index}'`),
    `insert into letter (kind, session_uuid, occasion, due_at, next_try_at) select 'link', '${uuid}', n, now(), now() from generate_series(0, 3) as n`,
    ...letters.map(
      (done, index) => `update letter set ${done} where kind = 'link' and occasion = '${index}'`,
    ),
    `insert into refund (intent_id, amount_cents, reason, status) values ('${intentId}', 1, 'requested', 'pending')`,
    "insert into event_retry (id, event, attempts, next_try_at) values ('evt_2', '{}', 0, now())",
  ];
  for (const statement of statements) await sql.raw(statement).execute(server.deps.database);
  const page = await scrape();
  const sizes = samplesOf(page).filter(({ series }) => series.startsWith('induct_queue_size'));
  assert.equal(sizes.length, 6);
  assert.deepEqual(
    sizes.filter(({ value }) => value !== 0),
    [],
  );
  assert.equal(sampleOf(page, 'induct_letters_refused'), 1);
});

test('all scrapers together cost the database one statement in ten seconds', async (t) => {
  // This test uses a server of its own, because the shared server may be logging or counting calls of earlier tests.
  const idle = await startTestServer();
  const { url, close } = await metricsOf(idle, 10_000);
  t.after(async () => {
    await close();
    await idle.close();
  });
  // Opens the connection before statements are counted, because opening it sends a statement.
  await sql`select`.execute(idle.background);
  const { pathname } = new URL(idle.deps.config.databaseUrl);
  let asked = 0;
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  const spied = mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]) {
    if (`/${this.database}` === pathname) asked++;
    return query.apply(this, given);
  });
  t.after(() => spied.mock.restore());
  await Promise.all(Array.from({ length: 20 }, () => scrape(url)));
  await scrape(url);
  assert.equal(asked, 1);
});

test('without its database a server still tells how it does, and that the database is away', async (t) => {
  const background = connect(server.deps.config.databaseUrl, { name: 'lost' });
  const metrics = await metricsOf({ ...server, background });
  t.after(() => metrics.close());
  assert.equal(sampleOf(await metrics.scrape(), 'induct_database_up'), 1);
  await background.destroy();
  const page = await metrics.scrape();
  assert.equal(sampleOf(page, 'induct_database_up'), 0);
  assert.equal(sampleOf(page, 'induct_queue_size'), undefined);
  assert.equal(sampleOf(page, 'induct_breaker_open'), undefined);
  assert.ok(samplesOf(page).some(({ series }) => series.startsWith('nodejs_eventloop_lag')));
});

test('a server process serves them on a port of their own, and on the public one never', async (t) => {
  const port = 20_000 + (process.pid % 20_000);
  const watching = await startServerProcess(withSettings(server, { METRICS_PORT: String(port) }));
  t.after(() => watching.kill());
  const page = await scrape(`http://127.0.0.1:${port}/metrics`);
  assert.equal(sampleOf(page, 'induct_database_up'), 1);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status, 404);
  assert.equal((await fetch(`${watching.url}/metrics`)).status, 404);
  await assert.rejects(
    startServerProcess(withSettings(server, { METRICS_PORT: String(port) })),
    new RegExp(
      `METRICS_PORT: ${port} is taken at 127\\.0\\.0\\.1\\. Each server on a machine needs a port of its own\\.`,
    ),
  );
  assert.equal(await watching.stop(), 0);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/metrics`));
});
