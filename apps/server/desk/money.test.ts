import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { keepReconciliation } from '../books/reconcile.ts';
import { refundPayment } from '../books/refundPayment.ts';
import { beginLedger } from './ledgerMonth.ts';

const server = await sharedServer();
const deps = { ...server.deps, actor: 'Robin' };
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('finance');
const { idOf, orderedPin } = deskPeopleOn(server);

/** This month, in UTC. */
const month = new Date().toISOString().slice(0, 7);
const ledger = async (of = month): Promise<NonNullable<DeskData<'getLedger'>['ledger']>> =>
  (await browser.call('getLedger', { query: { month: of } })).data.ledger;

test('a month is read from Stripe, sums to the cent, names no uuid, and stays', async () => {
  const { client, uuid } = await orderedPin();
  const { intentId } = await payOrder(server, client, uuid);
  await refundPayment(deps, intentId);
  assert.equal((await browser.call('getLedger', { query: { month: '2020-02' } })).data.ledger, null);
  assert.equal((await browser.call('getLedgerFile', { query: { month } })).status, 404);

  await (await beginLedger(deps, month)).ended;
  const { readAt, summary, ...read } = await ledger();
  assert.ok(readAt);
  assert.deepEqual(read, {
    isReading: false,
    transactions: summary!.balance.count,
    fault: null,
    askedBy: 'Robin',
  });
  assert.deepEqual(summary!.faults, []);
  const { rows } = await sql<{ cents: number }>`
    select amount_cents as cents from payment where intent_id = ${intentId}`.execute(database);
  const paid = rows[0]!.cents;
  const net = summary!.kinds.reduce(
    (sum, { grossCents, refundsCents, feeCents }) => sum + grossCents + refundsCents - feeCents,
    0,
  );
  const { others, balance } = summary!;
  assert.equal(net + others.grossCents - others.feeCents, balance.grossCents - balance.feeCents);
  const dues = summary!.kinds.find(({ kind }) => kind === 'dues')!;
  const goods = summary!.kinds.find(({ kind }) => kind === 'goods')!;
  assert.equal(dues.grossCents + goods.grossCents, paid);
  assert.equal(dues.refundsCents + goods.refundsCents, -paid);

  const { data: file } = await browser.call('getLedgerFile', { query: { month } });
  assert.ok(
    file.includes(`,person ${await idOf(uuid)}, join 1"`) ||
      file.includes(`"person ${await idOf(uuid)}, join 1"`),
  );
  assert.ok(!file.includes(uuid));
  assert.ok(file.includes(intentId));
});

test('a month is read by one server at a time; one that falls silent is followed by another', async () => {
  const asked = '2020-03';
  let readings = 0;
  const haveAllBegun = Promise.withResolvers<void>();
  async function* listMovements(from: Date, until: Date) {
    readings++;
    await haveAllBegun.promise;
    yield* deps.payments.listMovements(from, until);
  }
  const counting = { ...deps, payments: { ...deps.payments, listMovements } };
  const begun = await Promise.all([1, 2, 3].map(() => beginLedger(counting, asked)));
  haveAllBegun.resolve();
  await Promise.all(begun.map(({ ended }) => ended));
  assert.equal(readings, 1);
  await sql`
    update ledger_month set reading_at = now() - interval '2 minutes', read_at = null, summary = null where month = '2020-03-01'`.execute(
    database,
  );
  const { isReading, fault, readAt } = await ledger(asked);
  assert.deepEqual([isReading, fault, readAt], [false, 'The reading was interrupted.', null]);
  await (await beginLedger(deps, asked)).ended;
  const again = await ledger(asked);
  assert.deepEqual([again.fault, again.summary!.balance.count], [null, 0]);
  // The call at the desk returns at once, before the month has been read.
  const { data } = await browser.call('readLedger', { body: { month: asked } });
  assert.equal(data.ledger.askedBy, 'Person 1');
  await until(async () => !(await ledger(asked)).isReading);
});

test('a month that Stripe does not tell says so, and what was read before stays', async () => {
  const asked = '2020-04';
  await (await beginLedger(deps, asked)).ended;
  const listMovements = () => {
    throw new Error('Stripe is away.');
  };
  await (await beginLedger({ ...deps, payments: { ...deps.payments, listMovements } as never }, asked)).ended;
  const { isReading, fault, summary } = await ledger(asked);
  assert.deepEqual([isReading, fault], [false, 'It could not be read.']);
  assert.equal(summary!.balance.count, 0);
  for (const wrong of ['2026-13', '1999-12', 'now'])
    assert.equal((await browser.call('getLedger', { query: { month: wrong } })).status, 400);
});

test('differences of the last nights are told with whom they are about', async () => {
  const { client, uuid } = await orderedPin();
  const { intentId } = await payOrder(server, client, uuid);
  const counts = {
    intents: 1,
    payments: 7,
    paidJoins: 1,
    heldMemberships: 1,
    receivedCents: 1,
    refundedCents: 1,
  };
  const of = (kind: string, subject: string, params = {}) =>
    ({ kind, subject, params, remedy: { do: 'settle', subject } }) as never;
  await keepReconciliation(
    deps,
    {
      counts,
      differences: [
        of('paid_by_nothing', uuid),
        of('not_returned', intentId, { receivedCents: 500 }),
        of('likely_same', intentId, { other: uuid }),
      ],
    },
    new Date(),
  );
  const { nights } = (await browser.call('getReconciliations')).data as DeskData<'getReconciliations'>;
  const { at: _, ...night } = nights[0]!;
  const person = {
    id: await idOf(uuid),
    name: (await browser.call('getPerson', { params: { id: String(await idOf(uuid)) } })).data.name,
  };
  const settles = {
    offers: [{ name: 'Settle', path: `/people/${person.id}?do=settle&join=1`, role: 'finance' }],
    advice: null,
  };
  assert.deepEqual(night, {
    payments: 7,
    differences: [
      {
        text: 'The join says that it is paid; no payment of it succeeded.',
        intent: null,
        person,
        ...settles,
      },
      {
        text: 'It bought nothing, and not all of its $5.00 has gone back.',
        intent: intentId,
        person,
        ...settles,
      },
      {
        text: `It was paid by somebody of the same name and email as join 1 of ${person.name}, and both memberships are held.`,
        intent: intentId,
        person,
        ...settles,
      },
    ],
  });
});
