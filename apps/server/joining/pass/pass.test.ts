import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { simpleParser } from 'mailparser';
import { NAME_CLOSED, NAME_WRONG, PASS_DAYS, TRIES_USED_UP } from '#core/pass.ts';
import { lockHolder, waiting } from '../../../../tests/harness/locks.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { details, orderingJoin, paidJoin, payOrder, startJoin } from '../../../../tests/harness/steps.ts';
import { type Client, limitWith, sharedServer } from '../../../../tests/harness/testServer.ts';
import { sendDue } from '../../letters/sendLetters.ts';
import { refundJoin } from '../../paying/refunds/refundJoin.ts';
import { PASS_EXPIRED, PASS_INVALID, sealedPasses } from '../../session/passes.ts';
import { sendDueLinks } from './sendLinks.ts';

const server = await sharedServer();
const { deps } = server;

const tokenOf = (uuid: string, passes = deps.passes) => new URL(passes.address(uuid)).hash.slice(1);
const open = (client: Client, token: string) => client.call('openPass', { body: { token } });
const sendCode = (client: Client, token: string) => client.call('sendPassCode', { body: { token } });
const byCode = (client: Client, token: string, code: string) =>
  client.call('provePassByCode', { body: { token, code } });
const byName = (client: Client, token: string, lastName = 'Rivera', zipcode = '78701') =>
  client.call('provePassByName', { body: { token, lastName, zipcode } });

/** Returns the codes that were mailed for a join, the oldest first. */
async function mailedCodes(uuid: string): Promise<string[]> {
  const letters = await deps.database
    .selectFrom('letter')
    .select('occasion')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'code')
    .orderBy('created_at')
    .execute();
  return letters.map(({ occasion }) => deps.passes.code(uuid, occasion));
}

const wrongCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

test('a link names its join to the server alone, in no two links alike', () => {
  const uuid = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
  const [first, second] = [tokenOf(uuid), tokenOf(uuid)];
  assert.notEqual(first, second);
  const text = Buffer.from(first, 'base64url').toString('latin1') + first;
  assert.ok(
    !text.includes('0b6f2f0e') && !Buffer.from(first, 'base64url').includes(Buffer.from('0b6f2f0e', 'hex')),
  );
  assert.equal(deps.passes.read(first).sessionUuid, uuid);
  assert.match(deps.passes.address(uuid, 'checkout'), /\/pass\?to=checkout#[\w-]+$/);
});

test('a link that was changed anywhere, cut off, or made with another secret is none', async () => {
  const uuid = await orderingJoin(server.client());
  const token = tokenOf(uuid);
  const changed = [...token].map(
    (letter, at) => token.slice(0, at) + (letter === 'A' ? 'B' : 'A') + token.slice(at + 1),
  );
  const others = [
    ...changed,
    token.slice(0, -1),
    `${token}A`,
    `${token}=`,
    '',
    'x',
    tokenOf(
      uuid,
      sealedPasses(['another secret'], 'https://a.example', () => new Date()),
    ),
  ];
  for (const other of others) assert.throws(() => deps.passes.read(other), { message: PASS_INVALID }, other);
  const { status, message } = await open(server.client(), changed[20]!);
  assert.deepEqual([status, message], [403, PASS_INVALID]);
});

test('a link opens its join for 30 days, in the browser that holds it without a question', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const secret = await linkSecret();
  const at = (days: number) =>
    tokenOf(
      uuid,
      sealedPasses([secret], deps.config.publicUrl, () => new Date(Date.now() - days * 86_400_000)),
    );
  assert.deepEqual((await open(client, at(PASS_DAYS - 0.01))).data.join, {
    uuid,
    goOn: '/registration/checkout',
    programme: 'high-school',
  });
  const late = await open(client, at(PASS_DAYS + 0.01));
  assert.deepEqual([late.status, late.message], [403, PASS_EXPIRED]);
});

test('on a new device a link shows nothing of the join, and following it changes nothing', async () => {
  const uuid = await orderingJoin(server.client());
  const rows = async () =>
    (
      await sql`select (select to_json(s) from join_session s where uuid = ${uuid}) as session,
        (select count(*) from pass) as passes, (select count(*) from letter) as letters`.execute(
        deps.database,
      )
    ).rows;
  const before = await rows();
  const stranger = server.client();
  const { data, headers, body } = await open(stranger, tokenOf(uuid));
  assert.deepEqual(data, { join: null, hasDetails: true, isCodeSent: false });
  assert.equal(headers.get('set-cookie'), null);
  assert.ok(!JSON.stringify(body).match(/Jordan|Rivera|example\.com|\b78701\b/));
  for (const path of ['/pass', `/pass?t=${tokenOf(uuid)}`]) await stranger.fetch(path);
  assert.deepEqual(await rows(), before);
});

test('the code that was mailed opens the join in the browser that asked for it, once', async () => {
  const owner = server.client();
  const { uuid } = await paidJoin(server, owner);
  const token = tokenOf(uuid);
  const device = server.client();
  const { headers } = await sendCode(device, token);
  assert.match(headers.get('set-cookie')!, /; Max-Age=900; .*HttpOnly; SameSite=Lax/);
  assert.equal((await open(device, token)).data.isCodeSent, true);
  const [code] = await mailedCodes(uuid);
  assert.match(code!, /^\d{6}$/);
  const other = server.client();
  await sendCode(other, tokenOf(await orderingJoin(server.client())));
  for (const browser of [server.client(), other])
    assert.equal((await byCode(browser, token, code!)).status, 400, 'in another browser');
  assert.equal((await device.call('getWelcome', { params: { uuid } })).status, 404);
  const proven = await byCode(device, token, ` ${code!.slice(0, 3)} ${code!.slice(3)}`);
  assert.equal(proven.data.uuid, uuid);
  assert.match(proven.data.goOn, /^\/registration\/upgrade/);
  assert.equal((await device.call('getWelcome', { params: { uuid } })).data.firstName, 'Jordan');
  assert.equal((await open(device, token)).data.join?.uuid, uuid, 'and is known from then on');
  assert.equal((await byCode(device, token, code!)).status, 400, 'used up');
});

test('nothing that is kept of a code tells it', async () => {
  const uuid = await orderingJoin(server.client());
  await sendCode(server.client(), tokenOf(uuid));
  const [code] = await mailedCodes(uuid);
  const { rows } = await sql<{ text: string }>`
    select (select to_json(pass)::text from pass where session_uuid = ${uuid})
      || (select to_json(letter)::text from letter where session_uuid = ${uuid}) as text`.execute(
    deps.database,
  );
  assert.ok(rows[0]!.text.includes('code_hash') && !rows[0]!.text.includes(code!));
});

test('last name and ZIP code open it as well, however they are written', async () => {
  const uuid = await startJoin(server.client(), 'LINCOLN2026');
  const person = details({ lastName: "O'Ńeill-Ruiz", zipcode: '78701-1234' });
  await server.client().call('submitDetails', { params: { uuid }, body: person });
  const device = server.client();
  const proven = await byName(device, tokenOf(uuid), ' oneill ruiz', '78701');
  assert.deepEqual(proven.data, {
    uuid,
    goOn: '/registration/membership',
    programme: 'high-school',
  });
  assert.equal((await open(device, tokenOf(uuid))).data.join?.uuid, uuid);
});

test('a join is finished and paid on another device from its link', async () => {
  const uuid = await orderingJoin(server.client());
  const device = server.client();
  await byName(device, tokenOf(uuid));
  await payOrder(server, device, uuid);
  assert.equal((await device.call('getWelcome', { params: { uuid } })).data.receipt?.name, 'Jordan Rivera');
});

test('a device that has proven itself is not charged on the card that was saved by another; one that paid is', async () => {
  const owner = server.client();
  const { uuid, intentId: paymentIntent } = await paidJoin(server, owner);
  const device = server.client();
  const isOffered = async (client: Client, join: string) =>
    (await client.call('getUpgradeDetails', { params: { uuid: join } })).data.isEligibleForUpgrade;
  await byName(device, tokenOf(uuid));
  assert.deepEqual([await isOffered(owner, uuid), await isOffered(device, uuid)], [true, false]);
  const charge = await device.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent } });
  assert.equal(charge.status, 403);
  await byName(owner, tokenOf(uuid));
  assert.equal(await isOffered(owner, uuid), true, 'proving oneself takes nothing away');

  const begun = await orderingJoin(server.client());
  await byName(device, tokenOf(begun));
  await payOrder(server, device, begun);
  assert.equal(await isOffered(device, begun), true);
});

test('five wrong tries close both ways, however many come at once, until a code is mailed anew', async () => {
  const uuid = await orderingJoin(server.client());
  const token = tokenOf(uuid);
  const device = server.client();
  await sendCode(device, token);
  const [code] = await mailedCodes(uuid);
  const tries = await Promise.all(Array.from({ length: 12 }, () => byCode(device, token, wrongCode(code!))));
  assert.equal(tries.filter(({ status }) => status === 400).length, 4);
  assert.ok(
    tries.every(({ status, message }) => status === 400 || (status === 429 && message === TRIES_USED_UP)),
  );
  assert.equal((await byCode(device, token, code!)).status, 429, 'the right one neither');
  assert.equal((await byName(device, token)).message, NAME_CLOSED);
  await sendCode(device, token);
  const codes = await mailedCodes(uuid);
  assert.equal((await byCode(device, token, codes[1]!)).status, 200);
});

test('a new code opens no more last names and ZIP codes: only proof by code does', async () => {
  const uuid = await orderingJoin(server.client());
  const token = tokenOf(uuid);
  const device = server.client();
  for (const zipcode of ['78702', '78703', '78704', '78705'])
    assert.deepEqual((await byName(device, token, 'Rivera', zipcode)).errors, { lastName: NAME_WRONG });
  assert.equal((await byName(device, token, 'Rivera', '78706')).message, TRIES_USED_UP);
  await sendCode(device, token);
  assert.equal((await byName(device, token)).message, NAME_CLOSED);
  const [code] = await mailedCodes(uuid);
  assert.equal((await byCode(device, token, code!)).status, 200);
  assert.equal((await byName(server.client(), token)).status, 200);
});

test('a right last name is no try, and nothing but punctuation is nobody', async () => {
  const uuid = await orderingJoin(server.client());
  for (let time = 0; time < 7; time++)
    assert.equal((await byName(server.client(), tokenOf(uuid))).status, 200);
  assert.equal((await byName(server.client(), tokenOf(uuid), '...', '-')).status, 400);
});

test("a contact's last name and ZIP code prove nothing: anybody can begin a join with a contact's id", async () => {
  const { data } = await server.client().call('initJoin', { params: { id: '101' }, body: {} });
  const token = tokenOf(data.uuid);
  const device = server.client();
  assert.equal((await open(device, token)).data.hasDetails, false);
  const { data: contact } = await server.client().call('getContact', { params: { uuid: data.uuid } });
  assert.ok(contact.lastName && contact.zip);
  assert.equal((await byName(device, token, contact.lastName, contact.zip)).status, 400);
});

test("a stranger's tries with no code of theirs do not use up the joiner's", async () => {
  const uuid = await orderingJoin(server.client());
  const token = tokenOf(uuid);
  const device = server.client();
  await sendCode(device, token);
  for (let time = 0; time < 6; time++)
    assert.equal((await byCode(server.client(), token, '000000')).status, 400);
  const [code] = await mailedCodes(uuid);
  assert.equal((await byCode(device, token, code!)).status, 200);
});

test('a code is too old after a quarter of an hour, and a newer one takes its place', async () => {
  const uuid = await orderingJoin(server.client());
  const token = tokenOf(uuid);
  const device = server.client();
  await sendCode(device, token);
  await sendCode(device, token);
  const [first, second] = await mailedCodes(uuid);
  assert.equal((await byCode(device, token, first!)).status, first === second ? 200 : 400);
  await sql`update pass set code_expires_at = now() where session_uuid = ${uuid}`.execute(deps.database);
  assert.equal((await byCode(device, token, second!)).status, 400);
  assert.equal((await open(device, token)).data.isCodeSent, false);
});

test('codes for one join are limited', async (t) => {
  limitWith(t, server, { LIMIT_PASS_CODES_PER_JOIN: '2/60' });
  const uuid = await orderingJoin(server.client());
  const statuses = [];
  for (let time = 0; time < 3; time++) statuses.push((await sendCode(server.client(), tokenOf(uuid))).status);
  assert.deepEqual(statuses, [200, 200, 429]);
  assert.equal((await mailedCodes(uuid)).length, 2);
});

test('a link ends at once when its membership is refunded, by every way', async () => {
  const owner = server.client();
  const { uuid } = await paidJoin(server, owner);
  const token = tokenOf(uuid);
  const device = server.client();
  await sendCode(device, token);
  const [code] = await mailedCodes(uuid);
  assert.equal((await open(owner, token)).status, 200);
  await refundJoin(deps, uuid, { membership: true, ineligible: false, upgrade: false, items: 'none' });
  for (const refused of [
    await open(owner, token),
    await byCode(device, token, code!),
    await byName(device, token),
    await sendCode(device, token),
    await open(owner, tokenOf(uuid)),
  ])
    assert.deepEqual([refused.status, refused.message], [403, PASS_INVALID]);
  assert.equal((await mailedCodes(uuid)).length, 1);
});

test('staff revoke the links of a join; one that is made later opens it', async (t) => {
  const uuid = await orderingJoin(server.client());
  const [old, device] = [tokenOf(uuid), server.client()];
  await sendCode(device, old);
  const [code] = await mailedCodes(uuid);
  assert.equal((await runCommand(t, server, 'links revoke', [uuid])).code, 0);
  assert.equal((await open(device, old)).message, PASS_INVALID);
  assert.equal((await byCode(device, old, code!)).message, PASS_INVALID);
  const later = sealedPasses([await linkSecret()], deps.config.publicUrl, () => new Date(Date.now() + 1));
  const token = tokenOf(uuid, later);
  assert.equal((await open(device, token)).status, 200);
  assert.equal((await byCode(device, token, code!)).status, 400, 'its code went too');
  const nobody = '00000000-0000-4000-8000-000000000000';
  assert.deepEqual(await runCommand(t, server, 'links revoke', [nobody]), {
    out: `There is no join ${nobody}.\n`,
    code: 1,
  });
  assert.equal((await runCommand(t, server, 'links revoke', ['x'])).code, 2);
});

async function linkSecret(): Promise<string> {
  const { rows } = await sql<{ value: string }>`select value from secret where name = 'link'`.execute(
    deps.database,
  );
  return deps.config.linkSecrets?.[0] ?? rows[0]!.value;
}

test('the letters with the link and the code go to the address that the join has, and what they carry opens it', async () => {
  const email = 'lettered@example.com';
  const uuid = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: email });
  await server.client().call('sendPassLinks', { body: { email: 'LETTERED@example.com' } });
  await sendDueLinks(deps);
  const device = server.client();
  await sendCode(device, tokenOf(uuid));
  while (await sendDue(deps, deps.config.mail!));
  const letters = (await server.letters()).filter(({ to }) => to.includes(email));
  const textOf = async (subject: string) =>
    (await simpleParser(letters.find((letter) => letter.subject === subject)!.raw)).text!;
  assert.deepEqual(letters.map(({ subject }) => subject).sort(), [
    'Your code for the Society',
    'Your link to the Society',
  ]);
  const [, token] = /#([\w-]{40,})/.exec(await textOf('Your link to the Society'))!;
  const [code] = /^\d{6}$/m.exec(await textOf('Your code for the Society'))!;
  assert.equal((await byCode(device, token!, code)).data.uuid, uuid);
});

test('a code that is too old is not mailed any more', async () => {
  const uuid = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'slow@example.com' });
  await sendCode(server.client(), tokenOf(uuid));
  await sql`update letter set due_at = due_at - interval '16 minutes' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  while (await sendDue(deps, deps.config.mail!));
  assert.deepEqual(
    (await server.letters()).filter(({ to }) => to.includes('slow@example.com')),
    [],
  );
});

for (const [what, begin] of [
  [
    'was not paid',
    (client: Client, email: string) => orderingJoin(client, undefined, { personalEmail: email }),
  ],
  [
    'was paid',
    async (client: Client, email: string) =>
      (await paidJoin(server, client, undefined, { personalEmail: email })).uuid,
  ],
] as const)
  test(`the link of a join that ${what} and was erased does not hold, on any device`, async (t) => {
    const owner = server.client();
    const email = `erased-${what.replaceAll(' ', '-')}@example.com`;
    const uuid = await begin(owner, email);
    const token = tokenOf(uuid);
    assert.equal((await open(owner, token)).status, 200);
    assert.equal((await runCommand(t, server, 'person erase', [email, '--yes'])).code, 0);
    for (const client of [owner, server.client()]) {
      const { status, message } = await open(client, token);
      assert.deepEqual([status, message], [403, PASS_INVALID]);
      const sent = await sendCode(client, token);
      assert.deepEqual([sent.status, sent.message], [403, PASS_INVALID]);
      const named = await byName(client, token);
      assert.deepEqual([named.status, named.message], [403, PASS_INVALID]);
    }
    assert.deepEqual(await mailedCodes(uuid), []);
  });

test('a code that is given while its join is erased finds nothing, and neither waits for the other for ever', async (t) => {
  const uuid = await orderingJoin(server.client());
  const device = server.client();
  await sendCode(device, tokenOf(uuid));
  const [code] = await mailedCodes(uuid);
  const erasing = await lockHolder(t, server);
  await erasing.query('select from join_session where uuid = $1 for update', [uuid]);
  const given = byCode(device, tokenOf(uuid), code!);
  await waiting(erasing, 1);
  await erasing.query('delete from pass where session_uuid = $1', [uuid]);
  await erasing.query('commit');
  assert.equal((await given).status, 400);
});

for (const [what, ask] of [
  ['a name that is given', byName],
  ['a code that is asked for', sendCode],
] as const)
  test(`${what} while its join is erased finds nothing`, async (t) => {
    const email = `${what.replaceAll(' ', '.')}.meanwhile@example.com`;
    const uuid = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: email });
    const token = tokenOf(uuid);
    const holder = await lockHolder(t, server);
    await holder.query('select from join_session where uuid = $1 for update', [uuid]);
    const asked = ask(server.client(), token);
    await waiting(holder, 1);
    for (const table of ['letter', 'pass', 'join_event'])
      await holder.query(`delete from ${table} where session_uuid = $1`, [uuid]);
    await holder.query('delete from join_session where uuid = $1', [uuid]);
    await holder.query('commit');
    const { status, message } = await asked;
    assert.deepEqual([status, message], [403, PASS_INVALID]);
  });
