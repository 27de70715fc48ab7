import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../../tests/harness/changeSociety.ts';
import { newContact } from '../../../../tests/harness/deliver.ts';
import { lockHolder, waiting } from '../../../../tests/harness/locks.ts';
import { listStripe } from '../../../../tests/harness/providers.ts';
import { everything, undergraduate } from '../../../../tests/harness/refunds.ts';
import { all, none, retentionOn, rule } from '../../../../tests/harness/retention.ts';
import { noticesOf, staffNotices, writeNotice } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { details, openIntent, orderingJoin, paidJoin, payByCard } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { charge } from '../../../../tests/harness/upgrades.ts';
import { dueProofs } from '../../documents/review.ts';
import { cancelIntent } from '../../paying/cancelIntent.ts';
import { confirmPayment } from '../../paying/confirmPayment.ts';
import { refundJoin } from '../../paying/refunds/refundJoin.ts';
import type { Changed } from '../../platform/failed.ts';
import { transitions } from '../../session/states.ts';
import { dueAtStripe, removeAtStripe } from './atStripe.ts';
import {
  applyRetention,
  forgetNightly,
  overdue,
  overview,
  removeSeen,
  type StageOverview,
  stages,
} from './retention.ts';

const server = await sharedServer();
const { deps } = server;
const { age, uploaded, forgetAll, rowOf } = retentionOn(server);

test('a society that says nothing keeps everything', async () => {
  const uuid = await orderingJoin(server.client());
  await age(uuid, 5_000);
  for (const stage of stages) assert.deepEqual(await overdue(deps, stage), []);
  assert.deepEqual(await applyRetention(deps), none);
  assert.ok(await rowOf(uuid));
  await sql`delete from join_session where uuid = ${uuid}`.execute(deps.database);
});

test('notices to staff go after their days, also those that name no join', async (t) => {
  await writeNotice(server, 'Jordan Rivera', '101 days');
  await writeNotice(server, 'younger', '99 days');
  const { rows } = await sql<{ id: string }>`select min(id)::text as id from staff_notice`.execute(
    deps.database,
  );
  changeSociety(t, server, rule('  noticesDays: 100\n'));
  const shown = await runCommand(t, server, 'retention', ['--dry-run']);
  assert.match(shown.out, new RegExp(`notices: kept for 100 days, 1 over it\n  ${rows[0]!.id}\n`));
  assert.deepEqual(await applyRetention(deps), { ...none, notices: 1 });
  assert.deepEqual(await staffNotices(server), ['younger']);
});

test('abandoned joins go after their days, and none that is being paid', async (t) => {
  const [old, young, paying] = await Promise.all([0, 1, 2].map(() => orderingJoin(server.client())));
  const client = server.client();
  const intended = await orderingJoin(client);
  await openIntent(client, intended);
  await age(old!, 11);
  await age(young!, 9);
  await age(intended, 11);
  await age(paying!, 11);
  await sql`update join_session set state = 'paying', paying_since = now() where uuid = ${paying!}`.execute(
    deps.database,
  );
  changeSociety(t, server, all);
  const shown = await runCommand(t, server, 'retention', ['--dry-run']);
  assert.match(shown.out, new RegExp(`abandoned: kept for 10 days, 1 over it\n  ${old}\n`));
  assert.ok(await rowOf(old!), 'shown alone, it changes nothing');
  assert.deepEqual(await applyRetention(deps), { ...none, abandoned: 1 });
  assert.equal(await rowOf(old!), undefined);
  for (const kept of [young, paying, intended]) assert.ok(await rowOf(kept!), kept!);
  await sql`update join_session set updated_at = now() where uuid = any(${[young, intended]}::uuid[])`.execute(
    deps.database,
  );
});

test('what is over its time otherwise than it was shown is not removed, and what holds now is answered', async (t) => {
  const [old, younger] = await Promise.all([orderingJoin(server.client()), orderingJoin(server.client())]);
  changeSociety(t, server, all);
  await age(old, 11);
  const seen = await overview(deps);
  await age(younger, 11);
  await assert.rejects(removeSeen(deps, seen), (error: Changed<StageOverview[]>) => {
    assert.deepEqual(
      error.now.find(({ stage }) => stage === 'abandoned')!.ids.toSorted(),
      [old, younger].toSorted(),
    );
    return true;
  });
  for (const uuid of [old, younger]) assert.ok(await rowOf(uuid));
  const { counts, faults } = await removeSeen(deps, await overview(deps));
  assert.deepEqual([counts, faults], [{ ...none, abandoned: 2 }, []]);
});

test('a join that its joiner goes on with while it is being removed stays, and Stripe hears nothing of it', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await cancelIntent(deps, (await openIntent(client, uuid)).id);
  await age(uuid, 11);
  changeSociety(t, server, all);
  const forgets = t.mock.method(deps.payments, 'writeNotes');
  const joiner = await lockHolder(t, server);
  await joiner.query('update join_session set updated_at = now() where uuid = $1', [uuid]);
  const removing = forgetAll();
  await waiting(server.background, 1);
  await joiner.query('commit');
  assert.deepEqual(await removing, none);
  assert.ok(await rowOf(uuid));
  assert.equal(forgets.mock.callCount(), 0);
});

test('paid joins lose their person after their days, unless something of them is under way', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'HONOR102');
  const waiting = server.client();
  const { uuid: undecided } = await paidJoin(server, waiting);
  await uploaded(waiting, undecided);
  const disputed = await paidJoin(server, server.client());
  await sql`update payment set dispute = 'open' where intent_id = ${disputed.intentId}`.execute(
    deps.database,
  );
  for (const one of [uuid, undecided, disputed.uuid]) await age(one, 401);
  changeSociety(t, server, all);
  assert.deepEqual(await forgetAll(), { ...none, paid: 1 });
  assert.ok((await rowOf(uuid))!.erased_at);
  const { rows } = await sql`
    select person_id, member_number, is_unlisted from membership where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.deepEqual(rows, [{ person_id: null, member_number: null, is_unlisted: true }]);
  for (const kept of [undecided, disputed.uuid]) assert.equal((await rowOf(kept))!.erased_at, null);
  const charges = await listStripe<{ id: string; metadata: Record<string, string> }>(
    server.stripeUrl,
    'charges',
  );
  const named = charges.filter(({ metadata }) => metadata.last_name !== undefined);
  assert.deepEqual(
    new Set(named.map(({ metadata }) => metadata.session)),
    new Set([undecided, disputed.uuid]),
    'the person is gone from what Stripe notes, too',
  );
  assert.deepEqual(await forgetAll(), none, 'once');
});

test('who paid for goods that were not sent keeps their address until they are sent or paid back', async (t) => {
  const owed = await undergraduate(server);
  const returned = await undergraduate(server);
  await refundJoin(deps, returned.uuid, everything);
  for (const { uuid } of [owed, returned]) await age(uuid, 401);
  changeSociety(t, server, all);
  const shown = async () => (await runCommand(t, server, 'retention', ['--dry-run'])).out;
  const waits = '  1 more wait for goods to be sent: npm run operator -- orders list\n';
  assert.match(await shown(), new RegExp(`paid: .*, 1 over it\n  ${returned.uuid}\n${waits}`));
  assert.deepEqual(await forgetAll(), { ...none, paid: 1 });
  assert.ok((await rowOf(returned.uuid))!.erased_at);
  assert.equal((await rowOf(owed.uuid))!.erased_at, null);
  assert.equal((await runCommand(t, server, 'orders ship', [owed.uuid])).code, 0);
  assert.doesNotMatch(await shown(), /more wait/);
  assert.deepEqual(await forgetAll(), { ...none, paid: 1 });
});

for (const email of ['personalEmail', 'schoolEmail'] as const)
  test(`the files at HubSpot of a join that lost its person are deleted when that is asked for later by its ${email}`, async (t) => {
    const client = server.client();
    const { uuid } = await paidJoin(server, client, undefined, { [email]: `Attached.${email}@example.com` });
    const other = `another.${email}@example.com`;
    await orderingJoin(server.client(), undefined, { personalEmail: other });
    await uploaded(client, uuid);
    await sql`update document set review = 'accepted', reviewed_at = now(), crm_file_id = '77' where session_uuid = ${uuid}`.execute(
      deps.database,
    );
    await age(uuid, 401);
    changeSociety(t, server, all);
    assert.deepEqual(await forgetAll(), { ...none, paid: 1 });
    const erased: string[] = [];
    t.mock.method(server.hubspot, 'eraseFile', async (id: string) => void erased.push(id));
    const erase = async (whose: string) =>
      (await runCommand(t, server, 'person erase', [whose, '--yes', '--hubspot'])).code;
    assert.deepEqual([await erase(other), erased], [0, []], "another person's erasure");
    assert.deepEqual([await erase(`attached.${email.toLowerCase()}@example.com`), erased], [0, ['77']]);
  });

test('the file of a transcript goes after the decision, and the decision stays', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  await uploaded(client, uuid);
  await sql`update document set review = 'accepted', reviewed_at = now() - interval '21 days' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  const { rows: keys } = await sql<{
    key: string;
  }>`select storage_key as key from document where session_uuid = ${uuid}`.execute(deps.database);
  assert.ok(readdirSync(server.documents).includes(keys[0]!.key));
  changeSociety(t, server, all);
  assert.deepEqual(await forgetAll(), { ...none, documents: 1 });
  assert.ok(!readdirSync(server.documents).includes(keys[0]!.key));
  const { rows } = await sql<{
    name: string;
    review: string;
  }>`select name, review from document where session_uuid = ${uuid}`.execute(deps.database);
  assert.deepEqual(rows, [{ name: 'removed', review: 'accepted' }]);
  assert.ok(!(await dueProofs(deps)).some((due) => due.uuid === uuid), 'nobody owes it again');
});

test('whose transcript was rejected finally goes after its days, once nothing is held', async (t) => {
  const [client, holding] = [server.client(), server.client()];
  const [gone, held] = [await paidJoin(server, client), await paidJoin(server, holding)];
  for (const [browser, { uuid }] of [
    [client, gone],
    [holding, held],
  ] as const) {
    await uploaded(browser, uuid);
    await sql`update document set review = 'rejected', reason = 'gpa', is_final = true, reviewed_at = now() - interval '41 days',
      removed_at = now() where session_uuid = ${uuid}`.execute(deps.database);
  }
  await sql`update membership set standing = 'refunded' where session_uuid = ${gone.uuid}`.execute(
    deps.database,
  );
  changeSociety(t, server, all);
  assert.deepEqual(await forgetAll(), { ...none, rejected: 1 });
  assert.ok((await rowOf(gone.uuid))!.erased_at);
  assert.equal((await rowOf(held.uuid))!.erased_at, null);
});

test('a transcript that waits for no decision any more, since its membership went back, holds up nothing, and its file goes', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, undefined, {
    personalEmail: 'undecided@example.com',
  });
  await uploaded(client, uuid);
  await sql`update document set created_at = now() - interval '30 days' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  changeSociety(t, server, all);
  assert.deepEqual(await forgetAll(), none);
  await age(uuid, 401);
  assert.deepEqual(await forgetAll(), none);
  await refundJoin(deps, uuid, everything);
  await age(uuid, -401);
  assert.deepEqual(await forgetAll(), none, 'counted from the refund');
  await sql`update refund set updated_at = now() - interval '21 days' where intent_id = ${intentId}`.execute(
    deps.database,
  );
  assert.deepEqual(await forgetAll(), { ...none, documents: 1 });
  await age(uuid, 401);
  assert.deepEqual(await forgetAll(), { ...none, paid: 1 });
});

test('a person whose transcript was not decided before the membership went back can be erased', async (t) => {
  const client = server.client();
  const personalEmail = 'undecided.erased@example.com';
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail });
  await uploaded(client, uuid);
  const erase = () => runCommand(t, server, 'person erase', [personalEmail, '--yes']);
  assert.match((await erase()).out, /its transcript waits for a decision/);
  await refundJoin(deps, uuid, everything);
  assert.equal((await erase()).code, 0);
});

test('a document that cannot be removed holds up nothing else, and is tried again within the hour', async (t) => {
  const keys: string[] = [];
  for (const name of ['kept', 'removed']) {
    const client = server.client();
    const { uuid } = await paidJoin(server, client, undefined, { personalEmail: `${name}@example.com` });
    await uploaded(client, uuid);
    const { rows } = await sql<{ key: string }>`
      update document set review = 'accepted', reviewed_at = now() - interval '21 days' where session_uuid = ${uuid}
      returning storage_key as key`.execute(deps.database);
    keys.push(rows[0]!.key);
  }
  const abandoned = await orderingJoin(server.client());
  await age(abandoned, 11);
  changeSociety(t, server, all);
  await sql`delete from schedule where name = 'retention'`.execute(deps.database);
  const remove = deps.storage.remove.bind(deps.storage);
  const mocked = t.mock.method(deps.storage, 'remove', async (key: string) => {
    if (key === keys[0]) throw new Error('AccessDenied');
    await remove(key);
  });
  const warned = t.mock.method(deps.log, 'warn');
  await assert.rejects(forgetNightly(deps), /1 join, document or notice could not be removed.*AccessDenied/);
  const inStorage = () => keys.map((key) => readdirSync(server.documents).includes(key));
  assert.deepEqual(inStorage(), [true, false]);
  assert.equal(await rowOf(abandoned), undefined);
  assert.deepEqual(warned.mock.calls[0]!.arguments[0], { ...none, abandoned: 1, documents: 1 });

  const shown = await runCommand(t, server, 'retention', ['--yes']);
  assert.equal(shown.code, 1);
  assert.match(
    shown.out,
    /^Removed: .* 0 documents, 0 notices\.\n1 join, document or notice could not be removed/m,
  );

  mocked.mock.restore();
  await sql`update schedule set due_at = due_at - interval '1 hour' where name = 'retention'`.execute(
    deps.database,
  );
  await forgetNightly(deps);
  assert.deepEqual(inStorage(), [false, false]);
});

test('what is over its time goes in one night, however much it is', async (t) => {
  const uuid = await orderingJoin(server.client());
  await age(uuid, 11);
  await sql`
    with persons as (insert into person (profile) select '{}' from generate_series(1, 7) returning id)
    insert into join_session (uuid, person_id, origin, programme, state, updated_at)
    select gen_random_uuid(), persons.id, origin, programme, 'started', updated_at from join_session, persons
    where uuid = ${uuid}`.execute(deps.database);
  changeSociety(t, server, all);
  await sql`delete from schedule where name = 'retention'`.execute(deps.database);
  // forgetNightly returns true if more is overdue; `repeat` then calls it again without a pause.
  assert.equal(await forgetNightly(deps, 5), true);
  assert.equal(await forgetNightly(deps, 5), false);
  assert.deepEqual(await overdue(deps, 'abandoned'), []);
});

test('one that may not go yet does not put off the rest of a night', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: 'undecided@example.com' });
  await uploaded(client, uuid);
  await sql`update document set reviewed_at = now() - interval '50 days', created_at = now() - interval '100 days'
    where session_uuid = ${uuid}`.execute(deps.database);
  await sql`insert into person (contact_id, profile) values ('4401', '{}')`.execute(deps.database);
  await sql`
    insert into document (id, kind, person_id, name, media_type, size_bytes, sha256, storage_key, created_at)
    select gen_random_uuid(), 'resume', (select id from person where contact_id = '4401'), 'one.pdf', 'application/pdf', 1, '', 'of-retention-' || number, now() - interval '50 days'
    from generate_series(1, 6) as number`.execute(deps.database);
  changeSociety(t, server, all);
  await sql`delete from schedule where name = 'retention'`.execute(deps.database);
  let rounds = 1;
  while (await forgetNightly(deps, 5)) rounds++;
  const { rows } = await sql<{ kind: string }>`
    select kind from document where (person_id = (select id from person where contact_id = '4401') or session_uuid = ${uuid}) and removed_at is null`.execute(
    deps.database,
  );
  assert.deepEqual(rows, [{ kind: 'transcript' }]);
  assert.ok(rounds <= 3, 'it ends');
  await sql`delete from document where person_id = (select id from person where contact_id = '4401') or session_uuid = ${uuid}`.execute(
    deps.database,
  );
});

test('it is done once a day by one of all servers', async (t) => {
  await sql`delete from schedule where name = 'retention'`.execute(deps.database);
  changeSociety(t, server, all);
  const uuid = await orderingJoin(server.client());
  await age(uuid, 11);
  await forgetNightly(deps);
  assert.equal(await rowOf(uuid), undefined);
  const later = await orderingJoin(server.client());
  await age(later, 11);
  await forgetNightly(deps);
  assert.ok(await rowOf(later), 'not again today');
});

test('Stripe forgets who left without paying', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  const noted = async () => (await server.deps.payments.retrieveIntent(id)).metadata.last_name;
  assert.equal(await noted(), 'Rivera');
  await cancelIntent(deps, id);
  await age(uuid, 11);
  changeSociety(t, server, all);
  await forgetAll();
  assert.equal(await rowOf(uuid), undefined);
  assert.equal(await noted(), undefined);
});

test('while Stripe is down the person goes here, and at Stripe when it is back', async (t) => {
  const { uuid } = await paidJoin(server, server.client());
  await age(uuid, 401);
  changeSociety(t, server, all);
  const path = '/v1/payment_intents/*';
  const headers = { 'stripe-should-retry': 'false' };
  await server.stripeFault({ kind: 'status', status: 500, headers, method: 'POST', path, times: 100 });
  t.after(() => server.stripeFault(null));
  const { code, out } = await runCommand(t, server, 'retention', ['--yes']);
  assert.match(out, /^Removed: .* 1 paid, .*\nStripe does not answer\. The servers tell it again/m);
  assert.equal(code, 1);
  assert.ok((await rowOf(uuid))!.erased_at);
  const notes = async () =>
    (await listStripe<{ id: string; metadata: Record<string, string> }>(server.stripeUrl, 'charges')).find(
      ({ metadata }) => metadata.session === uuid,
    )!.metadata.last_name;
  assert.equal(await notes(), 'Rivera');
  await server.stripeFault(null);
  // Every call erases the objects that are due at Stripe, even if the nightly run is not due.
  await forgetNightly(deps);
  assert.equal(await notes(), undefined);
  assert.deepEqual(await deps.database.selectFrom('forget_at_stripe').selectAll().execute(), []);
});

test('a payment that Stripe refuses to change keeps no other from being forgotten there', async () => {
  const paid = [];
  for (const name of ['first', 'second', 'third']) {
    const email = `refused.${name}@example.com`;
    paid.push(await paidJoin(server, server.client(), undefined, { personalEmail: email }));
  }
  const joins = paid.map(({ uuid }) => uuid);
  await deps.database.transaction().execute((trx) => dueAtStripe(trx, joins));
  const [{ intentId }] = paid.toSorted((a, b) => (a.intentId < b.intentId ? -1 : 1)) as [
    (typeof paid)[number],
  ];
  const path = `/v1/payment_intents/${intentId}`;
  await server.stripeFault({ kind: 'status', status: 400, method: 'POST', path, times: 1 });
  await assert.rejects(removeAtStripe(deps));
  const left = () => deps.database.selectFrom('forget_at_stripe').select('stripe_id').execute();
  assert.deepEqual(await left(), [{ stripe_id: intentId }]);
  await removeAtStripe(deps);
  assert.deepEqual(await left(), []);
});

test('a join that was not paid stays while money of it is with us, and goes once that went back', async (t) => {
  const [first, second] = [server.client(), server.client()];
  const [paid, twice] = await Promise.all([
    orderingJoin(first, 'HONOR104'),
    orderingJoin(second, 'HONOR104'),
  ]);
  const intents = [await openIntent(first, paid), await openIntent(second, twice)];
  for (const { id } of intents) await payByCard(server, id);
  await confirmPayment(deps, intents[0]!.id);
  const body = { error: { type: 'invalid_request_error', code: 'charge_not_refundable', message: 'no' } };
  await server.stripeFault({ kind: 'status', status: 400, body, method: 'POST', path: '/v1/refunds' });
  t.after(() => server.stripeFault(null));
  await confirmPayment(deps, intents[1]!.id);
  await server.stripeFault(null);
  // Makes a join whose upgrade is paid, while its own payment was undone because Stripe did not know that payment for a while.
  const client = server.client();
  const upgraded = await paidJoin(server, client);
  assert.equal((await charge(client, upgraded.uuid, upgraded.intentId)).data.status, 'succeeded');
  assert.equal((await runCommand(t, server, 'orders ship', [upgraded.uuid])).code, 0);
  await sql`update payment set status = 'canceled', succeeded_at = null where intent_id = ${upgraded.intentId}`.execute(
    deps.database,
  );
  await sql`update join_session set ${transitions.undoPayment} where uuid = ${upgraded.uuid}`.execute(
    deps.database,
  );
  const old = async () => {
    for (const uuid of [twice, upgraded.uuid]) await age(uuid, 11);
  };
  await old();
  changeSociety(t, server, all);
  assert.deepEqual(await forgetAll(), none);
  assert.ok((await noticesOf(server, twice)).length > 0, 'staff have the command');

  assert.equal((await runCommand(t, server, 'refund', [intents[1]!.id])).code, 0);
  await sql`update membership set standing = 'void' where session_uuid = ${upgraded.uuid}`.execute(
    deps.database,
  );
  await sql`update payment set status = 'canceled', succeeded_at = null where session_uuid = ${upgraded.uuid}`.execute(
    deps.database,
  );
  await old();
  assert.deepEqual(await forgetAll(), { ...none, abandoned: 2 });
});

test('a join with an open payment stays, and a join whose file cannot be removed is told as a failure', async (t) => {
  const upgrading = server.client();
  const open = await paidJoin(server, upgrading, 'LINCOLN2026', { personalEmail: 'still.open@example.com' });
  assert.equal((await charge(upgrading, open.uuid, open.intentId, { charge: false })).status, 200);
  const client = server.client();
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: 'stuck.file@example.com' });
  await uploaded(client, uuid);
  await sql`update document set review = 'accepted', reviewed_at = now() where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  for (const one of [open.uuid, uuid]) await age(one, 401);
  changeSociety(t, server, all);
  await sql`delete from schedule where name = 'retention'`.execute(deps.database);
  const mocked = t.mock.method(deps.storage, 'remove', async () => {
    throw new Error('AccessDenied');
  });
  await assert.rejects(
    forgetNightly(deps),
    /^Error: 1 join, document or notice could not be removed.*AccessDenied/,
  );
  mocked.mock.restore();
  await sql`update schedule set due_at = due_at - interval '1 hour' where name = 'retention'`.execute(
    deps.database,
  );
  await forgetNightly(deps);
  assert.deepEqual(
    [(await rowOf(open.uuid))!.erased_at, (await rowOf(uuid))!.erased_at === null],
    [null, false],
  );
});

test('a person to whom nothing leads any more goes with abandoned joins, and one who is invited or known in HubSpot stays', async (t) => {
  await sql`
    insert into person (contact_id, profile, words, fetched_at, created_at)
    select id, '{"firstName": "Kept"}', 'kept', case when id = '4503' then now() end, now() - interval '11 days'
    from unnest(array['4501', '4502', '4503']) as id`.execute(deps.database);
  await sql`insert into invitation (code, person_id) select 'KEPT4502', id from person where contact_id = '4502'`.execute(
    deps.database,
  );
  changeSociety(t, server, all);
  await forgetAll();
  const { rows } = await sql<{ id: string }>`
    select contact_id as id from person where contact_id like '450_' order by 1`.execute(deps.database);
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['4502', '4503'],
  );
});

test('when a join goes, its person is known by what HubSpot or another join told, and found by no email of it', async (t) => {
  const id = await newContact(server, 'of.hubspot@example.com');
  await deps.contacts.refresh(id);
  const begin = async (personalEmail: string) => {
    const client = server.client();
    const { uuid } = (await client.call('initJoin', { params: { id }, body: {} })).data;
    await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
    return uuid;
  };
  const known = async () => {
    const { rows } = await sql<{ email: string | null; words: string }>`
      select details ->> 'personalEmail' as email, words from person where contact_id = ${id}`.execute(
      deps.database,
    );
    return { email: rows[0]!.email, emails: rows[0]!.words.split(' ').filter((word) => word.includes('@')) };
  };
  const [first, second] = [await begin('first.typed@example.com'), await begin('second.typed@example.com')];
  assert.deepEqual(await known(), {
    email: 'second.typed@example.com',
    emails: ['of.hubspot@example.com', 'second.typed@example.com'],
  });
  changeSociety(t, server, all);
  await age(second, 11);
  await forgetAll();
  assert.deepEqual(await known(), {
    email: 'first.typed@example.com',
    emails: ['of.hubspot@example.com', 'first.typed@example.com'],
  });
  await age(first, 11);
  await forgetAll();
  assert.deepEqual(await known(), { email: null, emails: ['of.hubspot@example.com'] });
});
