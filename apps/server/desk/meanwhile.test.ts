import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import type { DeskActionName } from '#contract/deskSchemas.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../../tests/harness/transcripts.ts';

/**
 * If two actions exclude each other, the second is not done, and its caller reads what has happened, however close together they
 * are.
 */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const [kim, lee] = [await desk.signedIn('finance'), await desk.signedIn('finance')];
const { idOf, orderedPin } = deskPeopleOn(server);
const { upload } = transcriptsOn(server);

/** The parameters for a refund of the membership and the pin. */
const everything = { join: 1, membership: true, ineligible: false, upgrade: false, items: [30] };
const pinAlone = { ...everything, membership: false };

interface Arranged {
  uuid: string;
  intentId: string;
  params: { id: string };
  /** The pin, as a line in the call `shipGoods`. */
  pin: object;
}
type Act = (
  join: Arranged,
) => [name: DeskActionName, options: { params?: Record<string, string>; body: object }];

/** Makes a member who has a pin to be sent, a transcript that waits for a decision, and an open refund request. */
async function arranged(): Promise<Arranged> {
  const { client, uuid } = await orderedPin();
  const { intentId } = await payOrder(server, client, uuid);
  assert.equal(await upload(client, uuid), 200);
  const { total } = (await client.call('getRefundRequest', { params: { uuid } })).data;
  assert.equal((await client.call('requestRefund', { params: { uuid }, body: { total } })).status, 200);
  const id = await idOf(uuid);
  return { uuid, intentId, params: { id: String(id) }, pin: { person: id, intent: intentId, line: 1 } };
}

const refund: Act = ({ params }) => ['refundJoin', { params, body: everything }];
const refundPin: Act = ({ params }) => ['refundJoin', { params, body: pinAlone }];
const refundPayment: Act = ({ intentId }) => ['refundPayment', { params: { id: intentId }, body: {} }];
const rejectFinally: Act = ({ params }) => [
  'rejectFinally',
  { params, body: { join: 1, reason: 'below-requirement' } },
];
const accept: Act = ({ params }) => ['acceptTranscripts', { params, body: { join: 1 } }];
const reject: Act = ({ params }) => [
  'rejectTranscripts',
  { params, body: { join: 1, reason: 'unreadable' } },
];
const decline: Act = ({ params }) => [
  'declineRefund',
  { params, body: { join: 1, sentence: 'The pin was sent.' } },
];
const ship: Act = ({ pin }) => ['shipGoods', { body: { lines: [pin], note: '', evenHeld: false } }];
const unship: Act = ({ pin }) => ['unshipGoods', { body: { lines: [pin] } }];

/** Runs `work` at the `nth` time, counted from now, that the server asks Stripe for a payment's refunds and disputes. */
function whenAsked(t: TestContext, nth: number, work: () => Promise<void>): void {
  const { moneyBack } = deps.payments;
  let asked = 0;
  t.mock.method(deps.payments, 'moneyBack', async (intentId: string) => {
    if (++asked === nth) await work();
    return moneyBack.call(deps.payments, intentId);
  });
}

/**
 * Pairs of actions: the first action, the action that a colleague does just before the first is performed, and the sentence that
 * the first caller then gets.
 */
const pairs: [name: string, act: Act, colleague: Act, told: RegExp, before?: Act][] = [
  ['refunding and sending', refund, ship, /^Sent already, on .*: Lapel Pin\.$/m],
  ['refunding the goods and sending them', refundPin, ship, /^Sent already, on .*: Lapel Pin\.$/m],
  ['refunding a payment and sending its goods', refundPayment, ship, /^Sent already, on .*: Lapel Pin\.$/m],
  ['refunding and taking back what was sent', refund, unship, /^Not sent any more: Lapel Pin\.$/m, ship],
  [
    'refunding and declining',
    refund,
    decline,
    /^Person 2 has declined the member's request for \$77\.00\.$/m,
  ],
  ['refunding and refunding the payment', refund, refundPayment, /^Membership has already been refunded/],
  ['refunding a payment and refunding parts of it', refundPayment, refundPin, /^\$65\.00 of payment/m],
  ['refunding and rejecting finally', refund, rejectFinally, /^Membership has already/m],
  ['rejecting finally and accepting', rejectFinally, accept, /^Already accepted by Person 2/m],
  ['rejecting finally and rejecting', rejectFinally, reject, /^Already rejected by Person 2/m],
  ['rejecting finally and refunding', rejectFinally, refund, /membership .* has ended/],
];
for (const [name, act, colleague, told, before] of pairs)
  test(`of ${name} at once, the second is told of the first`, async (t) => {
    const join = await arranged();
    if (before) assert.equal((await lee.act(...before(join))).status, 200);
    const [action, options] = act(join);
    const trial = await kim.call(action, { ...options, body: { ...options.body, trial: true } });
    assert.equal(trial.status, 200, trial.message!);
    assert.doesNotMatch(trial.data.lines.join('\n'), told);
    let did: number | undefined;
    // The preview asks Stripe once, too, except that of `refundPayment`. The colleague acts when Stripe is asked after the
    // preview.
    whenAsked(t, action === 'refundPayment' ? 1 : 2, async () => {
      const answer = await lee.act(...colleague(join));
      assert.equal(answer.status, 200, answer.message!);
      did = answer.status;
    });
    const late = await kim.call(action, { ...options, body: { ...options.body, seen: trial.data.seen } });
    assert.equal(did, 200, 'the colleague was in between');
    assert.equal(late.status, 409, late.data?.lines?.join());
    assert.match(late.shown ? late.shown.lines.join('\n') : late.message!, told);
  });

/** Actions that two members of staff press at the same time. Sending goods is absent: parcels.test.ts tests it. */
const presses: [name: string, act: Act, before?: Act][] = [
  ['refunding', refund],
  ['refunding the goods', refundPin],
  ['refunding the payment', refundPayment],
  ['declining', decline],
  ['rejecting finally', rejectFinally],
  ['rejecting', reject],
  ['accepting', accept],
  ['taking back what was sent', unship, ship],
];
for (const [name, act, before] of presses)
  test(`of two who press ${name} at the same moment one does it, and the other looks again`, async () => {
    const join = await arranged();
    if (before) assert.equal((await lee.act(...before(join))).status, 200);
    const [action, options] = act(join);
    const press = (browser: typeof kim, more: object) =>
      browser.call(action, { ...options, body: { ...options.body, ...more } });
    const both = [kim, lee];
    const trials = await Promise.all(both.map((browser) => press(browser, { trial: true })));
    const answers = await Promise.all(
      both.map((browser, n) => press(browser, { seen: trials[n]!.data.seen })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  });

for (const [name, colleague] of [
  ['a refund', refund],
  ['a refund of the goods', refundPin],
  ['a refund of the payment', refundPayment],
] as const)
  test(`goods are not sent once ${name} is decided, however close`, async (t) => {
    const join = await arranged();
    const [action, options] = ship(join);
    const trial = await kim.call(action, { ...options, body: { ...options.body, trial: true } });
    whenAsked(t, 1, async () => assert.equal((await lee.act(...colleague(join))).status, 200));
    const late = await kim.call(action, { ...options, body: { ...options.body, seen: trial.data.seen } });
    assert.deepEqual(
      late.data.outcomes.map(({ outcome }: { outcome: string }) => outcome),
      ['refunded meanwhile'],
    );
    const { rows } = await sql`select from shipment where session_uuid = ${join.uuid}`.execute(database);
    assert.equal(rows.length, 0);
  });

test('a request is not declined while a colleague refunds it', async (t) => {
  const join = await arranged();
  const holder = await lockHolder(t, server);
  // Writes the same rows as a refund that has not committed yet.
  await holder.query('select from join_session where uuid = $1 for no key update', [join.uuid]);
  await holder.query("update membership set standing = 'refunded' where session_uuid = $1", [join.uuid]);
  const late = kim.act(...decline(join));
  await Promise.race([waiting(holder, 1), late]);
  await holder.query('commit');
  const { status, message } = await late;
  assert.deepEqual([status, /no request that waits/.test(message!)], [409, true], message!);
  const { rows } = await sql`
    select from letter where session_uuid = ${join.uuid} and kind = 'refund-declined'`.execute(database);
  assert.equal(rows.length, 0);
});
