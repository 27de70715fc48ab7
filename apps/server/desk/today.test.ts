import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { setDelivery } from '../../../tests/harness/deliver.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { newMember, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { keepReconciliation } from '../books/reconcile.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import { notifyStaff } from '../letters/notifyStaff.ts';
import { shipOrder } from '../membership/shipOrder.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');
const { idOf, somebody, orderedPin } = deskPeopleOn(server);

const today = async (): Promise<DeskData<'getToday'>> => (await browser.call('getToday')).data;
const queueOf = async (name: string) => (await today()).queues.find((queue) => queue.name === name)!;

test('each queue counts what waits, and since when the oldest does', async () => {
  const before = await today();
  assert.deepEqual(
    before.queues.map(({ name }) => name),
    ['transcripts', 'proof', 'parcels', 'letters', 'hubspot', 'refundsAsked', 'refunds', 'differences'],
  );
  const countOf = (name: string) => before.queues.find((queue) => queue.name === name)!.count;
  await orderedPin();
  const { client, uuid } = await orderedPin();
  const { intentId } = await payOrder(server, client, uuid);
  const long = '2020-01-01T00:00:00.000Z';
  await postPdf(client, pathOf('uploadTranscript', { uuid }));
  await sql`update document set created_at = ${long} where session_uuid = ${uuid}`.execute(database);
  assert.deepEqual(await queueOf('transcripts'), {
    name: 'transcripts',
    count: countOf('transcripts') + 1,
    oldest: long,
  });

  const owing = await newMember(server, 'LINCOLN2026', somebody());
  await sql`update join_session set origin = 'self_nomination', paid_at = ${long} where uuid = ${owing.uuid}`.execute(
    database,
  );
  assert.deepEqual(await queueOf('proof'), { name: 'proof', count: countOf('proof') + 1, oldest: long });

  await sql`update payment set succeeded_at = ${long} where intent_id = ${intentId}`.execute(database);
  assert.deepEqual(await queueOf('parcels'), {
    name: 'parcels',
    count: countOf('parcels') + 1,
    oldest: long,
  });
  await shipOrder({ ...deps, actor: 'Robin' }, uuid, { items: null, note: null });
  assert.equal((await queueOf('parcels')).count, countOf('parcels'));

  await dueLetters(database, deps, [{ kind: 'portal', sessionUuid: uuid, occasion: 'refused' }]);
  await sql`update letter set refusal = '550 no', next_try_at = ${long} where session_uuid = ${uuid} and occasion = 'refused'`.execute(
    database,
  );
  await setDelivery(server, uuid, sql`refusal = 'no scope', due_since = ${long}`);
  await sql`insert into refund (intent_id, amount_cents, reason, status, created_at) values (${intentId}, 50, 'requested', 'due', ${long})`.execute(
    database,
  );
  for (const name of ['letters', 'hubspot', 'refunds']) {
    const { count, oldest } = await queueOf(name);
    assert.deepEqual([count, oldest], [countOf(name) + 1, long], name);
  }

  const counts = {
    intents: 1,
    payments: 1,
    paidJoins: 1,
    heldMemberships: 1,
    receivedCents: 1,
    refundedCents: 1,
  };
  await keepReconciliation(
    deps,
    { counts, differences: [{ kind: 'paid_by_nothing', subject: uuid, params: {}, remedies: [] } as never] },
    new Date(),
  );
  const { reconciled, queues, week } = await today();
  assert.deepEqual(queues.at(-1), { name: 'differences', count: 1, oldest: reconciled!.at });
  assert.equal(reconciled!.differences, 1);
  assert.deepEqual(week, { begun: 3, paid: 1 }, 'one was paid for long ago');
});

test('notices name the person, how often and since when, and no command', async () => {
  const person = somebody();
  const { uuid } = await newMember(server, 'LINCOLN2026', person);
  for (let time = 0; time < 3; time++)
    await notifyStaff(database, {
      kind: 'certificate_name',
      subject: uuid,
      params: { letters: 'م' },
      remedy: { do: 'print certificate', uuid },
    });
  const { notices } = await today();
  const { id: _, since, last, ...told } = notices.find(({ text }) => text.includes('typeface has no م'))!;
  assert.deepEqual(told, {
    text: `The certificate of join 1 of Ann ${person.lastName} cannot be printed: its typeface has no م. Make it by hand, or ask the member how the name is written in Latin, Greek or Cyrillic letters.`,
    person: { id: await idOf(uuid), name: `Ann ${person.lastName}` },
    count: 3,
    offers: [
      { name: 'Certificate', path: `/people/${await idOf(uuid)}?do=certificate&join=1`, role: 'staff' },
    ],
    advice: null,
  });
  assert.ok(since <= last);
  assert.ok(notices.every(({ text }) => !text.includes('npm run')));
});

test('of many notices the newest are told, too, and a provider’s trouble shows among them', async (t) => {
  t.after(() => sql`update staff_notice set ended_at = now() where kind = 'background'`.execute(database));
  await sql`insert into staff_notice (kind, params, created_at, last_seen_at)
    select 'background', jsonb_build_object('what', 'something', 'cause', 'failed ' || n || '.'), now() - interval '2 days', now() - interval '1 day'
    from generate_series(1, 250) n`.execute(database);
  await notifyStaff(database, {
    kind: 'provider_trouble',
    subject: null,
    params: { text: 'The mail server refuses us.', provider: 'Mail' },
    remedy: { do: 'doctor' },
  });
  const { notices, providers } = await today();
  const trouble = notices.find(({ text }) => text === 'The mail server refuses us.')!;
  assert.deepEqual([trouble.offers, trouble.advice], [[], 'Whoever runs the server mends this.']);
  assert.ok(providers.find(({ name }) => name === 'mail')!.troubleSince);
  await sql`update staff_notice set last_seen_at = now() - interval '2 hours' where kind = 'provider_trouble'`.execute(
    database,
  );
});

test('a provider is in trouble while its refusals are met, or while it is left alone', async (t) => {
  const troubled = async () =>
    (await today()).providers.flatMap(({ name, troubleSince }) => (troubleSince ? [name] : []));
  assert.deepEqual(
    (await today()).providers.map(({ name }) => name),
    ['stripe', 'hubspot', 'mail'],
  );
  t.after(() => sql`update crm_budget set blocked_until = '-infinity', failures = 0`.execute(database));
  await sql`update crm_budget set blocked_until = '-infinity', failures = 0`.execute(database);
  await notifyStaff(database, {
    kind: 'provider_trouble',
    subject: null,
    params: { text: 'HubSpot refuses what joins say (INVALID phone).', provider: 'HubSpot' },
    remedy: { do: 'look at what HubSpot refuses' },
  });
  assert.deepEqual(await troubled(), [], 'who refuses what a join says does answer');
  await sql`update crm_budget set blocked_until = now() + interval '1 minute'`.execute(database);
  assert.deepEqual(await troubled(), ['hubspot']);
  await notifyStaff(database, {
    kind: 'provider_trouble',
    subject: null,
    params: { text: 'Stripe refuses our key.', provider: 'Stripe' },
    remedy: { do: 'doctor' },
  });
  assert.deepEqual(await troubled(), ['stripe', 'hubspot']);
  await sql`update staff_notice set last_seen_at = now() - interval '2 hours' where kind = 'provider_trouble'`.execute(
    database,
  );
  assert.deepEqual(await troubled(), ['hubspot']);
});

test('a notice is shown before it is done, is done once, and is opened again', async () => {
  const { uuid } = await newMember(server, 'LINCOLN2026', somebody());
  const notice = {
    kind: 'certificate_name',
    subject: uuid,
    params: { letters: 'ج' },
    remedy: { do: 'print certificate', uuid },
  } as const;
  await notifyStaff(database, notice);
  const open = async () => (await today()).notices.find(({ text }) => text.includes('typeface has no ج'));
  const { id, text } = (await open())!;
  const mark = (body: object) =>
    browser.call('markNoticeDone', { params: { id: String(id) }, body: { undo: false, ...body } });

  const trial = await mark({ trial: true });
  const { seen } = trial.data;
  assert.deepEqual(trial.data, { lines: [text], verb: 'Done', seen });
  assert.ok(await open(), 'a trial changes nothing');
  assert.equal((await mark({})).status, 400, 'it has to be shown');
  const other = await mark({ seen: 'something else' });
  assert.deepEqual([other.status, other.shown], [409, trial.data]);
  assert.deepEqual(
    (await Promise.all([mark({ seen }), mark({ seen })])).map(({ status }) => status).sort(),
    [200, 409],
  );
  assert.equal(await open(), undefined);
  const again = await mark({ trial: true });
  assert.deepEqual([again.status, again.message], [409, 'Person 1 has marked this as done already.']);

  const done = async () =>
    (await browser.call('getDoneNotices')).data.notices.find((each: { id: number }) => each.id === id);
  assert.deepEqual(
    { ...(await done()), doneAt: null, since: null, last: null, person: null, offers: [] },
    {
      id,
      text,
      person: null,
      count: 1,
      since: null,
      last: null,
      doneAt: null,
      doneBy: 'Person 1',
      isOpenAgain: false,
      offers: [],
      advice: null,
    },
  );
  const undo = await mark({ undo: true, trial: true });
  assert.equal((await mark({ undo: true, seen: undo.data.seen })).status, 200);
  assert.equal((await open())!.id, id);
  assert.equal(await done(), undefined);

  const second = await mark({ trial: true });
  await mark({ seen: second.data.seen });
  await notifyStaff(database, notice);
  assert.equal((await done()).isOpenAgain, true);
  assert.equal((await mark({ undo: true, trial: true })).status, 409, 'its cause has come back');
  const { rows } = await sql<{ outcome: string }>`
    select outcome from staff_event where subject = ${`notice ${id}`} order by id`.execute(database);
  assert.deepEqual(rows.map(({ outcome }) => outcome).sort(), [
    'done',
    'done',
    'done',
    'refused',
    'refused',
    'refused',
  ]);
});
