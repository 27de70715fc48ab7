import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { newMember, newOrder } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { dayOf } from '../society/texts.ts';

const server = await sharedServer();
const { database, links, passes, config } = server.deps;

async function check(text: string) {
  const { data, status } = await server.client().call('checkInvitation', { body: { text } });
  assert.equal(status, 200);
  return data;
}
const brief = async (text: string) => {
  const { is, holds } = await check(text);
  return [is, holds];
};
const tomorrow = () => new Date(Date.now() + 86_400_000);

test('a code is told with its programme, its price, its refund and its last day, used or unused, and nothing of the student', async () => {
  const before = await check('honor 103');
  assert.deepEqual(
    [before.is, before.programme, before.price, before.until, before.holds],
    ['code', 'Honor Scholars', '$65.00', null, true],
  );
  assert.match(before.refund ?? '', /refund/);
  assert.ok(!JSON.stringify(before).includes('Okafor'));
  await newMember(server, 'HONOR103');
  assert.deepEqual(await check('HONOR103'), before);
});

test('a code of a school, an expired one and a withdrawn one are ours; an unknown one is not', async () => {
  assert.deepEqual(await brief('LINCOLN2026'), ['school code', true]);
  assert.deepEqual(await brief('EXPIRED2025'), ['school code', false]);
  assert.deepEqual(await brief('HONOR104'), ['code', true]);
  await sql`update invitation set is_withdrawn = true, withdrawn_at = now(), withdrawn_by = 'Staff' where code = 'HONOR104'`.execute(
    database,
  );
  assert.deepEqual(await brief('HONOR104'), ['code', false]);
  assert.deepEqual(await brief('NOBODYS77'), ['unknown', false]);
});

test('the day until which a code works is its last one, and not the moment after it', async () => {
  await sql`update invitation set expires_at = '2099-07-01 00:00 America/Chicago' where code = 'LINCOLN2026'`.execute(
    database,
  );
  assert.equal((await check('LINCOLN2026')).until, '2099-06-30');
});

test('a signed link is ours while nothing in it is changed, and until its time is over', async () => {
  const { exp, sig } = links.sign({ kind: 'init', contactId: '101' }, tomorrow());
  const path = `/registration/101/init?exp=${exp}&sig=${sig}`;
  const { is, until, holds } = await check(config.publicUrl + path);
  assert.deepEqual([is, until, holds], ['link', dayOf(server.deps.society, tomorrow()), true]);
  assert.deepEqual(await brief(config.publicUrl + path.replace('101', '102')), ['broken', false]);
  const old = links.sign({ kind: 'init', contactId: '101' }, new Date(Date.now() - 60_000));
  const expired = `${config.publicUrl}/registration/101/init?exp=${old.exp}&sig=${old.sig}`;
  assert.deepEqual(await brief(expired), ['link', false]);
});

test('a link to Checkout is told with its own price', async () => {
  const target = { kind: 'checkout', contactId: '104', parameters: { mp: '2', c: '4500' } } as const;
  const { exp, sig } = links.sign(target, tomorrow());
  const link = `${config.publicUrl}/initialize/checkout?vid=104&mp=2&c=4500&exp=${exp}&sig=${sig}`;
  const { is, price } = await check(link);
  assert.deepEqual([is, price], ['checkout', '$45.00']);
  assert.deepEqual(await brief(link.replace('4500', '9900')), ['broken', false]);
  assert.deepEqual(await brief(`${config.publicUrl}/initialize/checkout?vid=104&mp=two`), ['broken', false]);
});

test('a pay link and a pass are ours while they work', async () => {
  const { client, uuid } = await newOrder(server);
  const { path } = (await client.call('createPayLink', { params: { uuid }, body: {} })).data;
  assert.deepEqual(await brief(config.publicUrl + path), ['pay', true]);
  await client.call('endPayLink', { params: { uuid }, body: {} });
  assert.deepEqual(await brief(config.publicUrl + path), ['broken', false]);
  assert.deepEqual(await brief(passes.address(uuid)), ['join', true]);
  assert.deepEqual(await brief(`${passes.address(uuid)}x`), ['broken', false]);
});

test('a page of ours, another address, and what is neither', async () => {
  assert.deepEqual(await brief(`${config.publicUrl}/registration/get-started`), ['page', true]);
  assert.deepEqual(await brief(`${config.publicUrl}/no/such/page`), ['broken', false]);
  assert.deepEqual(await brief('https://society.example/refunds'), ['page', true], 'our letters lead there');
  assert.deepEqual(await brief('https://society.example/pay-here'), ['elsewhere', false]);
  assert.deepEqual(await brief('https://join.evil.example/registration/101/init'), ['elsewhere', false]);
  assert.deepEqual(await brief('hello?'), ['unread', false]);
});

test('wrong codes here and at Get Started count together', async (t) => {
  limitWith(t, server, { LIMIT_WRONG_CODES_PER_ADDRESS: '3/10' });
  const started = (invitationCode: string) =>
    server.client().call('checkEligibility', { body: { invitationCode } });
  const statusOf = async (text: string) =>
    (await server.client().call('checkInvitation', { body: { text } })).status;
  assert.deepEqual(await brief('NOBODYS81'), ['unknown', false]);
  assert.equal((await started('NOBODYS82')).status, 200);
  assert.deepEqual(await brief('NOBODYS83'), ['unknown', false]);
  assert.deepEqual([await statusOf('NOBODYS84'), (await started('NOBODYS84')).status], [429, 429]);
  assert.equal(await statusOf('HONOR103'), 429, 'a right one, too: otherwise the limit would tell it');
});
