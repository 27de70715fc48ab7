import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { changeSociety } from '../../tests/harness/changeSociety.ts';
import { dump } from '../../tests/harness/dump.ts';
import { chargeOf } from '../../tests/harness/refunds.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import {
  beginPayment,
  nominatedOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
} from '../../tests/harness/steps.ts';
import { isLong } from '../../tests/harness/testLength.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../tests/harness/upgrades.ts';
import { confirmPayment } from '../server/paying/confirmPayment.ts';
import { followPayment } from '../server/paying/refunds/followPayment.ts';

/** How far Stripe's clock is behind ours (ms). */
let behind = 0;
const server = await sharedServer({}, { stripeClock: () => Date.now() - behind });

const DONATION = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
const PIN = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Makes a paid join of the undergraduate programme with these store items. Its membership has a processing fee of $5. */
async function join(...extra: string[]) {
  const client = server.client();
  const uuid = await nominatedOrder(client, { isTOLA: false, membershipId: 3, items: extra });
  const paid = await payOrder(server, client, uuid);
  return { ...paid, takeUpgrade: () => charge(client, uuid, paid.intentId) };
}

const balance = async () => {
  const { body } = await server.stripe('GET', '/v1/balance');
  return (body as unknown as { available: [{ amount: number }] }).available[0].amount;
};

async function ledger(t: TestContext, ...args: string[]) {
  const { out, code } = await runCommand(t, server, 'ledger', ['--from', day(-1), '--to', day(1), ...args]);
  return { out, code, lines: out.split('\r\n') };
}

/**
 * Parses CSV (RFC 4180) with a separate implementation, not the project's own. Returns one record by column name for each line.
 */
function readCsv(out: string): Record<string, string>[] {
  const file = out.slice(0, out.lastIndexOf('\r\n'));
  const [columns, ...lines] = file
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, bare]) =>
        quoted === undefined ? bare! : quoted.replaceAll('""', '"'),
      ),
    );
  return lines.map((cells) => Object.fromEntries(columns!.map((name, index) => [name, cells[index]!])));
}
const cents = (dollars: string) => Math.round(Number(dollars) * 100);
/** Returns the net sum (cents) of other apps' transactions. The command prints this sum in addition to the file. */
const othersNet = (out: string) =>
  cents(/other transactions, (-?)\$([\d.,]+),/.exec(out)!.slice(1).join('').replaceAll(',', ''));
const sum = (rows: Record<string, string>[], column: string) =>
  rows.reduce((total, row) => total + cents(row[column]!), 0);
const entriesOf = (rows: Record<string, string>[], intentId: string) =>
  rows
    .filter((row) => row['payment intent'] === intentId)
    .map(({ type, kind, product, gross, fee, net }) => [type, kind, product, gross, fee, net].join(' '));

test('a join is booked line by line: what was sold, what it cost, what went back and what was kept', async (t) => {
  const { uuid, intentId, takeUpgrade } = await join(DONATION, PIN);
  await takeUpgrade();
  await runCommand(t, server, 'refund', [uuid, '--ineligible', '--items', '30']);
  const { out, code } = await ledger(t, '--csv');
  assert.equal(code, 0, out);
  const rows = readCsv(out);
  assert.deepEqual(entriesOf(rows, intentId), [
    'charge dues Membership 95.00 0.00 95.00',
    'charge donation Donation to scholarships 25.00 0.00 25.00',
    'charge goods Lapel Pin 12.00 0.00 12.00',
    'charge stripe fee Stripe processing fees 0.00 4.13 -4.13',
    'refund dues Membership -95.00 0.00 -95.00',
    'refund fee kept Processing fee of Membership 5.00 0.00 5.00',
    'refund goods Lapel Pin -12.00 0.00 -12.00',
  ]);
  const upgrade = rows.filter(({ join, kind }) => join === uuid && kind === 'upgrade');
  assert.deepEqual(
    upgrade.map(({ product, net }) => [product, net]),
    [['Distinguished Member upgrade', '55.00']],
  );
  for (const row of rows) {
    assert.match(row.date!, /^\d{4}-\d\d-\d\d$/);
    assert.match(row['balance transaction']!, /^txn_/);
  }
});

test('a membership and its upgrade are told apart where their orders have the same revision', async (t) => {
  const { uuid, intentId, takeUpgrade } = await join();
  await takeUpgrade();
  const { rows: orders } = await sql<{ revision: number }>`
    select revision from payment where session_uuid = ${uuid} and status = 'succeeded'`.execute(
    server.deps.database,
  );
  assert.deepEqual(orders, [{ revision: 1 }, { revision: 1 }]);
  const { out, code } = await ledger(t, '--csv');
  assert.equal(code, 0, out);
  const sold = readCsv(out).filter((row) => row.join === uuid && row.type === 'charge' && row.fee === '0.00');
  assert.deepEqual(
    sold.map(({ kind, product, gross, ...row }) => [
      row['payment intent'] === intentId,
      kind,
      product,
      gross,
    ]),
    [
      [true, 'dues', 'Membership', '95.00'],
      [false, 'upgrade', 'Distinguished Member upgrade', '55.00'],
    ],
  );
});

test('an order is booked as it was paid, where one of the same amount was opened before', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const params = { uuid };
  const pin = (await client.call('setSessionProduct', { params, body: { productUuid: PIN } })).data;
  await openIntent(client, uuid);
  const sessionProductUuid = pin.sessionProductUuid!;
  await client.call('deleteSessionProduct', { params: { sessionProductUuid }, body: {} });
  await client.call('setCustomDonation', { params, body: { amount: 12 } });
  await payOrder(server, client, uuid);
  const { out } = await ledger(t, '--csv');
  const sold = readCsv(out).filter((row) => row.join === uuid && row.type === 'charge' && row.fee === '0.00');
  assert.deepEqual(
    sold.map(({ kind, gross }) => [kind, gross]),
    [
      ['dues', '65.00'],
      ['donation', '12.00'],
    ],
  );
});

test('an upgrade by link is booked as an upgrade, and goes back without a fee that would be kept', async (t) => {
  await paidJoin(server, server.client(), 'HONOR101');
  const { uuid, intentId } = await upgradeByLink(server, '101', { productId: 11 });
  await runCommand(t, server, 'refund', [uuid, '--ineligible', '--upgrade']);
  const booked = entriesOf(readCsv((await ledger(t, '--csv')).out), intentId);
  assert.deepEqual(
    booked.filter((entry) => !entry.includes('stripe fee')),
    [
      'charge upgrade Distinguished Member upgrade 55.00 0.00 55.00',
      'refund upgrade Distinguished Member upgrade -55.00 0.00 -55.00',
    ],
  );
});

test('a membership that the dashboard gave back less its processing fee is booked as one that staff gave back so', async (t) => {
  const booked = async ({ intentId }: { intentId: string }) => {
    await followPayment(server.deps, intentId);
    const entries = entriesOf(readCsv((await ledger(t, '--csv')).out), intentId);
    return entries.filter((entry) => entry.startsWith('refund'));
  };
  const inDashboard = ({ intentId }: { intentId: string }, amount: string) =>
    server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount });
  const lessFee = [
    'refund dues Membership -95.00 0.00 -95.00',
    'refund fee kept Processing fee of Membership 5.00 0.00 5.00',
  ];
  const atOnce = await join();
  await inDashboard(atOnce, '9000');
  assert.deepEqual(await booked(atOnce), lessFee);
  await inDashboard(atOnce, '500');
  assert.deepEqual(await booked(atOnce), [
    ...lessFee,
    'refund fee kept Processing fee of Membership -5.00 0.00 -5.00',
  ]);

  const inTwo = await join(DONATION);
  await inDashboard(inTwo, '4000');
  await inDashboard(inTwo, '5000');
  assert.deepEqual(await booked(inTwo), [
    'refund dues Membership -40.00 0.00 -40.00',
    'refund dues Membership -55.00 0.00 -55.00',
    'refund fee kept Processing fee of Membership 5.00 0.00 5.00',
  ]);

  // Staff assign $80.00 to the membership, though its price is higher. The remainder of the price must not be booked as a
  // processing fee.
  const assigned = await join(DONATION);
  const { body } = await inDashboard(assigned, '8000');
  await followPayment(server.deps, assigned.intentId);
  await runCommand(t, server, 'refund assign', [body.id, '--membership']);
  assert.deepEqual(await booked(assigned), ['refund dues Membership -80.00 0.00 -80.00']);
});

test('what an order from before kept as its fee stays booked as kept when the society changes its fee', async (t) => {
  const { uuid, intentId } = await join();
  await sql`update order_snapshot set processing_fee_cents = null where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '9000' });
  await followPayment(server.deps, intentId);
  changeSociety(t, server, (source) => source.replace(/processingFee: "5.00"/, 'processingFee: "10.00"'));
  const booked = entriesOf(readCsv((await ledger(t, '--csv')).out), intentId);
  assert.deepEqual(
    booked.filter((entry) => entry.startsWith('refund')),
    [
      'refund dues Membership -95.00 0.00 -95.00',
      'refund fee kept Processing fee of Membership 5.00 0.00 5.00',
    ],
  );
});

test('a payment of another amount than was shown is not booked as the order that later had its revision', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const shown = await openIntent(client, uuid);
  const add = (productUuid: string) =>
    client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  // Simulates a failover to a standby that was behind. Our database has lost the pin from the order, but Stripe's intent includes
  // the pin's price.
  const restore = await dump(server);
  await add(PIN);
  await openIntent(client, uuid);
  await restore();
  await beginPayment(client, uuid, shown.revision);
  await payByCard(server, shown.id);
  assert.equal(await confirmPayment(server.deps, shown.id), 'refunded');
  await add(DONATION);
  const { intentId } = await payOrder(server, client, uuid);
  const rows = readCsv((await ledger(t, '--csv')).out);
  const booked = (intent: string) => entriesOf(rows, intent).filter((entry) => !entry.includes('stripe fee'));
  assert.deepEqual(booked(shown.id), [
    'charge unassigned Collegiate Honor Society: Membership $65.00; Lapel Pin $12.00 77.00 0.00 77.00',
    'refund unassigned REFUND FOR CHARGE (Collegiate Honor Society: Membership $65.00; Lapel Pin $12.00) -77.00 0.00 -77.00',
  ]);
  assert.deepEqual(booked(intentId), [
    'charge dues Membership 65.00 0.00 65.00',
    'charge donation Donation to scholarships 25.00 0.00 25.00',
  ]);
});

test('a refund whose answer was lost is booked as what it was for', async (t) => {
  const { uuid, intentId } = await join();
  await server.stripeFault({ kind: 'cut_after', method: 'POST', path: '/v1/refunds', times: 3 });
  assert.equal((await runCommand(t, server, 'refund', [uuid, '--ineligible'])).code, 1);
  await server.stripeFault(null);
  const rows = readCsv((await ledger(t, '--csv')).out);
  assert.deepEqual(entriesOf(rows, intentId).slice(-2), [
    'refund dues Membership -95.00 0.00 -95.00',
    'refund fee kept Processing fee of Membership 5.00 0.00 5.00',
  ]);
  // Refunds everything that is left, which here is the fee.
  await runCommand(t, server, 'refund', [intentId]);
  await sql`
    update refund set uuid = ('00000000-0000-4000-8000-' || lpad((10 - rank)::text, 12, '0'))::uuid
    from (select uuid as old, row_number() over (order by created_at) as rank from refund where intent_id = ${intentId}) as made
    where refund.uuid = old`.execute(server.deps.database);
  assert.equal(
    entriesOf(readCsv((await ledger(t, '--csv')).out), intentId).at(-1),
    'refund fee kept Processing fee of Membership -5.00 0.00 -5.00',
  );
});

test('what another app took on the same account is left out, counted, and makes up the difference', async (t) => {
  const before = (await ledger(t)).out;
  assert.match(before, /^0 other transactions, \$0\.00, not Induct's\.$/m);
  const { body } = await server.stripe('POST', '/v1/payment_intents', {
    amount: '4200',
    currency: 'usd',
    confirm: 'true',
    return_url: server.url,
    payment_method: 'pm_card_visa',
    'allowed_payment_method_types[0]': 'card',
    'metadata[app]': 'bookshop',
  });
  await server.stripe('POST', '/v1/refunds', { payment_intent: body.id, amount: '1000' });
  const { out, code } = await ledger(t, '--csv');
  assert.equal(code, 0);
  assert.match(out, /^2 other transactions, \$30\.48, not Induct's and not in the file\.$/m);
  const rows = readCsv(out);
  assert.deepEqual(entriesOf(rows, body.id), []);
  assert.equal(sum(rows, 'net') + 3048, await balance());
  const charge = await chargeOf(server, body.id);
  await server.stripeControl('disputes', { charge });
  const disputed = (await ledger(t, '--csv')).out;
  assert.match(disputed, /^3 other transactions, /m);
  assert.deepEqual(readCsv(disputed), rows);
});

const reconciled = ({ id }: { id: string }) => server.stripeControl(`payouts/${id}/reconcile`, {});

test('an automatic payout is named by all that it took once Stripe has reconciled it, and what it was of sums to it', async (t) => {
  const { intentId } = await join();
  const payout = await server.stripeControl('payouts', {});
  const early = readCsv((await ledger(t, '--csv')).out);
  assert.deepEqual(new Set(early.map((row) => row.payout)), new Set(['']));
  await reconciled(payout);
  const { intentId: later } = await join();
  const { out } = await ledger(t, '--csv');
  const rows = readCsv(out);
  const of = (intent: string) => rows.filter((row) => row['payment intent'] === intent);
  assert.deepEqual(new Set(of(intentId).map((row) => row.payout)), new Set([payout.id]));
  assert.deepEqual(new Set(of(later).map((row) => row.payout)), new Set(['']));
  const ofAYear = readCsv((await ledger(t, '--from', day(-365), '--csv')).out);
  assert.deepEqual(
    ofAYear.filter((row) => row['payment intent'] === intentId),
    of(intentId),
  );
  const [own] = rows.filter(({ kind }) => kind === 'payout');
  const taken = rows.filter(({ kind, payout: named }) => named === payout.id && kind !== 'payout');
  assert.equal(sum(taken, 'net') + othersNet(out), -cents(own!.net!));
  await server.stripeControl('payouts', { automatic: false });
  const afterManual = await ledger(t, '--csv');
  assert.equal(afterManual.code, 0, 'of a manual payout Stripe tells nothing');
  const stillOf = readCsv(afterManual.out).filter((row) => row['payment intent'] === intentId);
  assert.deepEqual(new Set(stillOf.map((row) => row.payout)), new Set([payout.id]), 'but of one before it');
});

test('a line that goes missing is said, and the exit status is 1', async (t) => {
  const { deps } = server;
  const { payments } = deps;
  const short: typeof payments = {
    ...payments,
    async *listMovements(from, until) {
      for await (const movement of payments.listMovements(from, until))
        yield { ...movement, netCents: movement.netCents + 1, currency: 'eur' };
    },
  };
  const run = await runCommand(t, { ...server, deps: { ...deps, payments: short } }, 'ledger', [
    '--from',
    day(-1),
    '--to',
    day(1),
  ]);
  assert.equal(run.code, 1);
  assert.match(run.out, /The lines do not sum to the transactions of Stripe’s balance\./);
  assert.match(run.out, /transactions in eur, which cannot be added to dollars/);
});

test('the file has every transaction of a busy day, in its order', async (t) => {
  const movements = Array.from({ length: 250 }, (_, index) => ({
    id: `txn_busy_${index}`,
    createdAt: new Date(Date.now() - index * 1_000),
    category: 'fee',
    description: `Fee ${index}`,
    grossCents: -index - 1,
    feeCents: 0,
    netCents: -index - 1,
    feeDescription: null,
    currency: 'usd',
    charge: null,
    refund: null,
  }));
  t.mock.method(server.deps.payments, 'listMovements', async function* () {
    yield* movements;
  });
  const { out, code } = await ledger(t, '--csv');
  assert.equal(code, 0);
  assert.deepEqual(
    readCsv(out).map((row) => row['balance transaction']),
    movements.map(({ id }) => id).reverse(),
  );
});

test('the ledger takes days, the last one included, and nothing else', async (t) => {
  for (const args of [
    [],
    ['--from', day(0)],
    ['--from', day(0), '--to', '2026-02-30'],
    ['--from', day(1), '--to', day(0)],
    ['--from', 'today', '--to', day(0)],
    ['--from', day(0), '--to', day(0), 'x'],
  ])
    assert.equal((await runCommand(t, server, 'ledger', args)).code, 2, args.join(' '));
  const wrong = await runCommand(t, server, 'ledger', ['--from', '2026-01-01', '--to', '2026-02-30']);
  assert.match(wrong.out, /^"2026-02-30" is not a day: write it as 2026-11-30\.\nUsage: /);
  const turned = await runCommand(t, server, 'ledger', ['--from', '2026-01-02', '--to', '2026-01-01']);
  assert.match(turned.out, /^The day in --to is before the day in --from\.\nUsage: /);
  const today = await runCommand(t, server, 'ledger', ['--from', day(-1), '--to', day(0)]);
  assert.match(today.out, /charge/);
  const old = await runCommand(t, server, 'ledger', ['--from', '2020-01-01', '--to', '2020-01-31']);
  assert.deepEqual([old.code, /^0 balance transactions .*: \$0\.00 gross/m.test(old.out)], [0, true]);
});

test('whatever is paid, refunded, disputed and paid out, the file sums to the balance', async (t) => {
  const fate = fc.constantFrom(
    'kept',
    'ineligible',
    'membership',
    'everything',
    'dashboard',
    'dashboard, less fee',
    'dashboard, all',
    'failed refund',
    'disputed',
    'dispute won',
    'dispute lost',
    'paid out',
  );
  const plan = fc.record({
    extra: fc.uniqueArray(fc.constantFrom(DONATION, PIN)),
    upgrade: fc.boolean(),
    fate,
    back: fc.integer({ min: 1, max: 9000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 4 }), async (plans) => {
      for (const { extra, upgrade, fate, back } of plans) {
        const { uuid, intentId, takeUpgrade } = await join(...extra);
        if (upgrade) await takeUpgrade();
        const refund = (...args: string[]) => runCommand(t, server, 'refund', [uuid, ...args]);
        const inDashboard = (form: object) =>
          server.stripe('POST', '/v1/refunds', { payment_intent: intentId, ...form });
        const dispute = async () => {
          const charge = await chargeOf(server, intentId);
          return (await server.stripeControl('disputes', { charge })).id;
        };
        if (fate === 'ineligible') await refund('--ineligible');
        if (fate === 'membership') await refund();
        if (fate === 'everything') await refund('--upgrade', '--items', 'all');
        if (fate === 'dashboard') await inDashboard({ amount: String(back) });
        if (fate === 'dashboard, less fee') await inDashboard({ amount: '9000' });
        if (fate === 'dashboard, all') await inDashboard({});
        if (fate === 'failed refund')
          await server.stripeControl(
            `refunds/${(await inDashboard({ amount: String(back) })).body.id}/settle`,
            { status: 'failed' },
          );
        if (fate === 'disputed') await dispute();
        if (fate === 'dispute won')
          await server.stripeControl(`disputes/${await dispute()}/close`, { status: 'won' });
        if (fate === 'dispute lost')
          await server.stripeControl(`disputes/${await dispute()}/close`, { status: 'lost' });
        if (fate === 'paid out') await reconciled(await server.stripeControl('payouts', {}));
        await followPayment(server.deps, intentId);
      }
      const { out, code } = await ledger(t, '--csv');
      assert.equal(code, 0, out);
      const rows = readCsv(out);
      assert.equal(sum(rows, 'net') + othersNet(out), await balance());
      assert.equal(sum(rows, 'gross') - sum(rows, 'fee'), sum(rows, 'net'));
      const byMovement = Map.groupBy(rows, (row) => row['balance transaction']!);
      for (const [id, lines] of byMovement) {
        const { body } = await server.stripe('GET', `/v1/balance_transactions/${id}`);
        const { amount, fee, net } = body as unknown as Record<string, number>;
        assert.deepEqual([sum(lines, 'gross'), sum(lines, 'fee'), sum(lines, 'net')], [amount, fee, net]);
      }
    }),
    { numRuns: isLong ? 30 : 3 },
  );
});

test('what was paid in these days is named by the payout that took it after them', async (t) => {
  behind = 3 * 86_400_000;
  const { intentId } = await join();
  behind = 0;
  const payout = await reconciled(await server.stripeControl('payouts', {}));
  const { out } = await runCommand(t, server, 'ledger', ['--from', day(-4), '--to', day(-2), '--csv']);
  const own = readCsv(out).filter((row) => row['payment intent'] === intentId);
  assert.deepEqual(new Set(own.map((row) => row.payout)), new Set([payout.id]));
  assert.deepEqual(new Set(own.map(({ date }) => date)), new Set([day(-3)]));
});

test('a movement of the second in which one period ends and the next begins is in the next one alone', async () => {
  const { payments } = server.deps;
  const { intentId } = await join();
  const SECOND_MS = 1_000;
  const movementsOf = async (from: number, until: number) => {
    const found: Date[] = [];
    for await (const { charge, createdAt } of payments.listMovements(new Date(from), new Date(until)))
      if (charge?.intentId === intentId) found.push(createdAt);
    return found;
  };
  const [movedAt] = await movementsOf(Date.now() - 60 * SECOND_MS, Date.now() + 60 * SECOND_MS);
  const at = movedAt!.getTime();
  assert.deepEqual(await movementsOf(at - SECOND_MS, at), []);
  assert.deepEqual(await movementsOf(at, at + SECOND_MS), [movedAt]);
});
