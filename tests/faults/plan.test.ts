import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProviderEmail } from '#core/providerEmail.ts';
import { stripeProvider } from '../../apps/server/providers/stripe/provider.ts';
import { killPoints, type Operation, operations, serverCalls } from './operations.ts';
import { digestOf, isHung, type Join, planOf, unitAt } from './plan.ts';
import { emailOf } from './world.ts';

const size = { joins: 300, kills: 60 };
const whole = planOf({ seed: 1, ...size });
const joins = whole.units.flat();
const killed = joins.filter(({ kill }) => kill !== null);

test('the same seed makes the same plan, another seed another one', () => {
  assert.deepEqual(planOf({ seed: 1, ...size }), whole);
  assert.equal(digestOf(planOf({ seed: 1, ...size })), digestOf(whole));
  const digests = Array.from({ length: 50 }, (_, seed) => digestOf(planOf({ seed, ...size })));
  assert.equal(new Set(digests).size, 50);
});

test('a plan has as many joins and kills as it was asked for', () => {
  for (const [seed, joins, kills] of [
    [2, 300, 60],
    [3, 30, 6],
    [4, 1, 0],
    [5, 7, 1],
  ] as const) {
    const { units, night } = planOf({ seed, joins, kills });
    assert.equal(units.flat().length, joins);
    assert.equal(units.flat().filter(({ kill }) => kill !== null).length + night.length, kills);
  }
});

test('a whole plan kills at every named point, and at any time', () => {
  const points = [
    ...killed.flatMap(({ kill }) => (kill && 'point' in kill ? [kill.point] : [])),
    ...whole.night,
  ];
  assert.deepEqual(
    killPoints.filter((point) => !points.includes(point)),
    [],
  );
  assert.ok(killed.some(({ kill }) => kill && 'afterMs' in kill));
});

test('a whole plan has every kind of join and every kind of fault at every call', () => {
  const kinds = (field: keyof Join) => new Set(joins.map((join) => JSON.stringify(join[field]))).size;
  assert.deepEqual(
    (
      [
        'start',
        'membership',
        'changes',
        'changesWhen',
        'pays',
        'leaves',
        'returns',
        'upgrade',
        'webhooks',
        'server',
        'aftermath',
        'processing',
        'known',
      ] as const
    ).map(kinds),
    [4, 3, 4, 8, 2, 4, 4, 5, 6, 2, 10, 6, 4],
  );
  const faults = joins.flatMap((join) => join.faults);
  const planned = new Set(faults.map(({ operation }) => operation));
  const inPlan = (Object.keys(operations) as Operation[]).filter(
    (name) => operations[name].names !== 'nothing',
  );
  assert.deepEqual(
    inPlan.filter((name) => !planned.has(name)),
    [],
  );
  assert.deepEqual([...new Set(faults.map(({ kind, status }) => `${kind} ${status ?? ''}`.trim()))].sort(), [
    'cut',
    'cut_after',
    'hang',
    'hang_after',
    'slow',
    'status 409',
    'status 500',
    'status_after 500',
  ]);
});

test('a whole plan has changes that hang, connections that break off, and one restart of the database', () => {
  assert.ok(joins.filter(isHung).length >= 10);
  assert.ok(joins.filter(isHung).every(({ kill, faults }) => kill === null && faults.length === 0));
  const broken = joins.flatMap(({ breakOff }) => (breakOff ? [JSON.stringify(breakOff)] : []));
  assert.equal(new Set(broken).size, 6);
  assert.equal(whole.restartsDatabase, true);
  assert.equal(planOf({ seed: 1, joins: 30, kills: 6 }).restartsDatabase, false);
});

test('every small plan has a change that hangs, a payment that the bank holds, and connections that break off', () => {
  for (let seed = 0; seed < 50; seed++) {
    const small = planOf({ seed, joins: 30, kills: 6 }).units.flat();
    assert.ok(small.some(isHung), `seed ${seed}: none hangs`);
    assert.ok(
      small.some(({ processing }) => processing),
      `seed ${seed}: none is held`,
    );
    assert.ok(
      small.some(({ breakOff }) => breakOff),
      `seed ${seed}: nothing breaks off`,
    );
  }
});

test('some contacts join twice at once, by the same and by different memberships', () => {
  const pairs = whole.units.filter(([, other]) => other && other.inNameOf === null);
  assert.ok(pairs.every(([one, two]) => one!.contact === two!.contact && one!.server !== two!.server));
  const same = pairs.filter(([one, two]) => one!.membership === two!.membership);
  assert.ok(same.length > 0 && same.length < pairs.length);
  assert.deepEqual([...new Set(pairs.map(([one]) => one!.pays))].sort(), ['begun', 'direct']);
});

test('beside some contacts who join, a stranger joins in their name', () => {
  const beside = whole.units.filter(([, other]) => other && other.inNameOf !== null);
  assert.ok(beside.length > 20, String(beside.length));
  assert.ok(
    beside.every(([own, stranger]) => own!.contact === stranger!.inNameOf && stranger!.contact === null),
  );
  assert.deepEqual([...new Set(beside.map(([, stranger]) => stranger!.start))].sort(), [
    'school',
    'selfNomination',
  ]);
});

test('whoever is sent to a kill point that nobody reached can be written to', () => {
  const sent = killPoints.flatMap((point) => unitAt(point, 1) ?? []);
  assert.ok(sent.length > 20);
  assert.deepEqual(
    sent.filter(({ name }) => !isProviderEmail(emailOf(name))),
    [],
  );
});

test('every call that the server can make to Stripe has its kill points', () => {
  const provider = stripeProvider({
    secretKey: 'sk_test_x',
    publishableKey: 'pk_test_x',
    webhookSecrets: ['whsec_x'],
    url: null,
    browserUrl: null,
  });
  // No server is killed at these calls. readEvent makes no request. listMovements and listPaidOut are used only for the
  // accountant's file. customerOfCard is called only after a failure, and a kill there changes nothing. chargeTimes is called
  // only after the database has lost an order. deleteCustomer is called only when somebody is erased, and writeNotes only then
  // and when a person is corrected or merged. No plan does any of this.
  const others = [
    ...['readEvent', 'listMovements', 'listPaidOut', 'customerOfCard', 'chargeTimes'],
    ...['deleteCustomer', 'writeNotes'],
  ];
  const all = Object.keys(provider).filter((name) => !others.includes(name));
  assert.deepEqual([...serverCalls].sort(), all.sort());
});
