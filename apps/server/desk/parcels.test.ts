import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { NO_GOODS } from './parcels.ts';

const server = await sharedServer();
const { database } = server.deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');
const other = await desk.signedIn('staff');
const { idOf, somebody, orderedPin } = deskPeopleOn(server);

type Tab = 'to-send' | 'held' | 'sent';
type Row = DeskData<'getParcels'>['rows'][number];

/** Makes a join that has paid for a pin. Returns its person's number and the line of the pin. */
async function boughtPin(person = somebody()) {
  const { client, uuid } = await orderedPin(person);
  const { intentId } = await payOrder(server, client, uuid);
  const id = await idOf(uuid);
  const row = (await rowsOf('to-send')).find((each) => each.person === id)!;
  const { name, ...goods } = { ...row.goods[0]! };
  return { uuid, intentId, id, name, line: { person: id, intent: goods.intent, line: goods.line } };
}

/** Returns all rows of a tab. */
async function rowsOf(tab: Tab): Promise<Row[]> {
  const rows: Row[] = [];
  let next: string | null = null;
  do {
    const { data, message, status } = await browser.call('getParcels', {
      query: { tab, ...(next !== null && { next }) },
    });
    assert.equal(status, 200, message!);
    rows.push(...data.rows);
    next = data.next;
  } while (next !== null);
  return rows;
}
const at = async (tab: Tab, id: number) => (await rowsOf(tab)).filter(({ person }) => person === id);

const ship = (lines: object[], { note = '', evenHeld = false } = {}, by = browser) =>
  by.act('shipGoods', { body: { lines, note, evenHeld } });

test('a parcel is listed with its address and goods, is marked as sent with a note, and is taken back', async () => {
  const { id, line, uuid } = await boughtPin();
  const [row] = await at('to-send', id);
  assert.deepEqual(row, {
    person: id,
    name: row!.name,
    address: '12 Oak Street, Austin, Texas, 78701, United States',
    days: 0,
    goods: [{ intent: line.intent, line: line.line, name: 'Lapel Pin', state: 'to send' }],
  });
  const trial = await browser.call('shipGoods', {
    body: { lines: [line], note: '', evenHeld: false, trial: true },
  });
  assert.deepEqual(trial.data.lines, [`Lapel Pin to ${row!.name}, ${row!.address}`]);
  assert.equal(trial.data.verb, 'Mark 1 as sent');
  assert.equal((await at('to-send', id)).length, 1, 'a trial changes nothing');

  const { data } = await ship([{ ...line, note: 'TRACK 1' }], { note: 'for all' });
  assert.deepEqual(data.outcomes, [{ person: row!.name, goods: 'Lapel Pin', outcome: 'sent' }]);
  assert.deepEqual(await at('to-send', id), []);
  const [sent] = await at('sent', id);
  assert.match(sent!.goods[0]!.state, /^sent on \w+ \d+, \d{4} by Person 1 \(TRACK 1\)$/);
  assert.doesNotMatch(JSON.stringify(sent), new RegExp(uuid));

  const back = await browser.act('unshipGoods', { body: { lines: [line] } });
  assert.equal(back.status, 200, back.message!);
  assert.equal((await at('to-send', id)).length, 1);
  assert.deepEqual(await at('sent', id), []);
  assert.match((await browser.act('unshipGoods', { body: { lines: [line] } })).message!, /: to send\.$/);
  await ship([line], { note: 'for all' });
  assert.match((await at('sent', id))[0]!.goods[0]!.state, /\(for all\)$/);
  const { rows } = await sql<{ action: string }>`
    select action from staff_event where subject = ${String(id)} order by id`.execute(database);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['shipGoods', 'unshipGoods', 'shipGoods'],
  );
});

test('exactly the ticked lines are marked, each once, whoever marks them at once', async () => {
  const [one, two, three] = [await boughtPin(), await boughtPin(), await boughtPin()];
  const body = { lines: [one.line, two.line], note: '', evenHeld: false };
  const { data: shown } = await browser.call('shipGoods', { body: { ...body, trial: true } });
  const answers = await Promise.all(
    [browser, other].map((by) => by.call('shipGoods', { body: { ...body, seen: shown.seen } })),
  );
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from shipment where session_uuid in (${one.uuid}, ${two.uuid})`.execute(
    database,
  );
  assert.equal(rows[0]!.count, 2);
  assert.ok(answers.some(({ status }) => status === 200));
  assert.equal((await at('to-send', three.id)).length, 1);

  const again = await browser.call('shipGoods', {
    body: { ...body, lines: [one.line, three.line], trial: true },
  });
  assert.match(again.data.lines[0], /^Lapel Pin of Ann \w+: sent on .* It stays as it is\.$/);
  assert.equal(again.data.verb, 'Mark 1 as sent');
  const { data } = await ship([one.line, three.line]);
  assert.deepEqual(
    data.outcomes.map(({ outcome }: { outcome: string }) => outcome),
    ['already sent', 'sent'],
  );
  assert.match((await ship([one.line])).message!, /^Nothing of this can be marked as sent\. /);
});

test('what was refunded at Stripe a moment ago is not sent, and the others are', async () => {
  const [refunded, good] = [await boughtPin(), await boughtPin()];
  await server.stripe('POST', '/v1/refunds', { payment_intent: refunded.intentId });
  const { data, status } = await ship([refunded.line, good.line]);
  assert.equal(status, 200);
  assert.deepEqual(
    data.outcomes.map(({ outcome }: { outcome: string }) => outcome),
    ['refunded meanwhile', 'sent'],
  );
  assert.deepEqual(data.lines, ['1 of 2 sent.']);
});

test('what is held says why, and is sent anyway', async () => {
  const { id, line, intentId } = await boughtPin();
  await sql`update payment set dispute = 'open' where intent_id = ${intentId}`.execute(database);
  assert.deepEqual(await at('to-send', id), []);
  assert.equal((await at('held', id))[0]!.goods[0]!.state, 'held: its payment is disputed');
  assert.match((await ship([line])).message!, /its payment is disputed/);
  const { data: shown } = await browser.call('shipGoods', {
    body: { lines: [line], note: '', evenHeld: true, trial: true },
  });
  assert.equal(shown.verb, 'Send anyway');
});

test('what has nowhere to go is listed without an address, and is not marked', async () => {
  const { id, line, uuid } = await boughtPin();
  await sql`update join_session set details = details - 'city' where uuid = ${uuid}`.execute(database);
  await sql`update person set details = details - 'city', profile = profile - 'city' where id = ${id}`.execute(
    database,
  );
  assert.equal((await at('to-send', id))[0]!.address, null);
  assert.match((await ship([line])).message!, /no address/);
});

test('goods are named by their person, and nothing is told of those of others', async () => {
  const { line } = await boughtPin();
  for (const wrong of [
    { ...line, person: line.person + 1 },
    { ...line, line: 7 },
    { ...line, intent: 'pi_unknown' },
  ]) {
    const { status, message } = await ship([wrong]);
    assert.deepEqual([status, message], [404, NO_GOODS]);
  }
  for (const body of [{ lines: [], note: '', evenHeld: false }, { lines: [line] }])
    assert.equal((await browser.call('shipGoods', { body })).status, 400);
  for (const query of [{ tab: 'all' }, { tab: 'sent', next: '1-pi_1' }, { tab: 'to-send', next: "1-'" }])
    assert.equal((await browser.call('getParcels', { query })).status, 400);
});

test('the packing list has what its tab has, is safe in a spreadsheet, and its taking is recorded', async () => {
  const person = { ...somebody(), firstName: '=cmd()' };
  const { id } = await boughtPin(person);
  const { data, headers } = await browser.call('getPackingList', { query: { tab: 'to-send' } });
  assert.match(headers.get('content-disposition')!, /^attachment; filename=parcels-to-send-[\d-]{10}\.csv$/);
  const lines = (data as string).split('\r\n');
  assert.equal(
    lines[0]!.replace('\ufeff', ''),
    'name,address1,address2,city,state,zip,country,items,person,paid',
  );
  const line = lines.find((each) => each.includes(person.lastName))!;
  assert.match(
    line,
    new RegExp(`^'=cmd\\(\\) ${person.lastName},12 Oak Street,.*,Lapel Pin,${id},[\\d-]{10}$`),
  );
  const { rows } = await sql`
    select action, subject, outcome from staff_event order by id desc limit 1`.execute(database);
  assert.deepEqual(rows, [{ action: 'getPackingList', subject: 'to-send', outcome: 'done' }]);
});

test('a packing list has no characters that turn the text around them', async () => {
  const person = somebody();
  const { id } = await boughtPin(person);
  const turned = JSON.stringify({ firstName: '\u202eevil\u2066' });
  await sql`update person set details = details || ${turned}::jsonb where id = ${id}`.execute(database);
  const { data } = await browser.call('getPackingList', { query: { tab: 'to-send' } });
  const line = (data as string).split('\r\n').find((each) => each.includes(person.lastName))!;
  assert.match(line, new RegExp(`^evil ${person.lastName},`));
});
