import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { type DeskCallName, deskCalls } from '#contract/deskCalls.ts';
import { hasRightsOf, staffRoles } from '#core/staff.ts';
import { Authenticator } from '../../../tests/harness/authenticator.ts';
import { type DeskBrowser, startDesk } from '../../../tests/harness/desk.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { Failed } from '../platform/failed.ts';
import { LINK_OVER, makeLink } from './links.ts';
import { PASSKEY_REFUSED } from './passkeys.ts';
import { FOREIGN, NOT_YOURS, SIGNED_OUT } from './serve.ts';

const server = await sharedServer();
const { database } = server.deps;
const local = await startDesk(server);
const live = await startDesk(server, 'live');
after(() => Promise.all([local.close(), live.close()]));

const names = Object.keys(deskCalls) as DeskCallName[];
const path = { id: '1', join: '1' };

test('a link signs one browser in, once', async () => {
  const token = await local.link('Robin Owner', 'owner');
  const browser = local.browser();
  const entered = await browser.call('enter', { body: { token } });
  assert.deepEqual([entered.status, entered.data], [200, { options: null }]);
  assert.match(
    entered.headers.get('set-cookie')!,
    /^desk=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  const { data } = await browser.call('getMe');
  assert.deepEqual(data, {
    name: 'Robin Owner',
    role: 'owner',
    mode: 'local',
    society: server.deps.society.society.name,
    timeZone: server.deps.society.society.timeZone,
  });
  const again = await local.browser().call('enter', { body: { token } });
  assert.deepEqual([again.status, again.message], [403, LINK_OVER]);
});

test('of two browsers that enter by one link at once one is signed in', async () => {
  const token = await local.link('Two At Once', 'staff');
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => local.browser().call('enter', { body: { token } })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403, 403]);
});

test('a link ends after a day, and an unknown one never held', async () => {
  const token = await local.link('Late Comer', 'staff');
  await sql`update staff_link set expires_at = now() where used_at is null`.execute(database);
  for (const given of [token, 'unknown', ''])
    assert.equal((await local.browser().call('enter', { body: { token: given } })).message, LINK_OVER);
});

test('a link is made for the role that somebody has, and for nobody whose access has ended', async () => {
  const deps = { database, actor: null };
  const somebody = { name: 'Kim Finance', email: 'kim@example.com', role: 'finance' } as const;
  await makeLink(deps, somebody);
  await assert.rejects(
    makeLink(deps, { ...somebody, role: 'owner' }),
    new Failed('Kim Finance has the role finance, not owner.'),
  );
  await sql`update staff set ended_at = now() where name = 'Kim Finance'`.execute(database);
  await assert.rejects(makeLink(deps, somebody), new Failed('The access of Kim Finance has ended.'));
});

test('in live mode a link takes a passkey, which then signs in by itself', async () => {
  const token = await live.link('Pat Passkey', 'owner');
  const browser = live.browser();
  const { data: entered, headers } = await browser.call('enter', { body: { token } });
  assert.equal(headers.get('set-cookie'), null);
  assert.equal((await browser.call('getMe')).status, 401);
  const passkey = new Authenticator(live.url);
  const added = await browser.call('addPasskey', {
    body: { token, credential: passkey.create(entered.options) },
  });
  assert.equal(added.status, 200);
  assert.equal((await browser.call('getMe')).data.name, 'Pat Passkey');
  assert.equal(
    (await browser.call('addPasskey', { body: { token, credential: passkey.create(entered.options) } }))
      .message,
    LINK_OVER,
  );

  const other = live.browser();
  const { data } = await other.call('getPasskeyOptions', { body: { isNew: false } });
  const credential = passkey.get(data.options);
  assert.equal((await other.call('signInByPasskey', { body: { credential } })).status, 200);
  assert.equal((await other.call('getMe')).data.name, 'Pat Passkey');
  assert.equal(
    (await live.browser().call('signInByPasskey', { body: { credential } })).message,
    PASSKEY_REFUSED,
  );
});

test('a passkey is refused that is unknown, of another origin, unchallenged, or of somebody whose access has ended', async () => {
  const token = await live.link('Sam Ended', 'staff');
  const { data } = await live.browser().call('enter', { body: { token } });
  const passkey = new Authenticator(live.url);
  const elsewhere = new Authenticator('http://localhost:1');
  const add = (credential: object) => live.browser().call('addPasskey', { body: { token, credential } });
  assert.equal((await add(elsewhere.create(data.options))).message, PASSKEY_REFUSED);
  assert.equal((await add(passkey.create({ challenge: 'bm9uZQ' }))).message, PASSKEY_REFUSED);
  assert.equal((await add({ id: 'nonsense' })).message, PASSKEY_REFUSED);
  assert.equal((await add(passkey.create(data.options))).status, 200, 'a refusal uses nothing up');

  const signIn = async (one: Authenticator, change = {}) => {
    const { data: asked } = await live.browser().call('getPasskeyOptions', { body: { isNew: false } });
    return live
      .browser()
      .call('signInByPasskey', { body: { credential: { ...one.get(asked.options), ...change } } });
  };
  assert.equal((await signIn(new Authenticator(live.url))).message, PASSKEY_REFUSED);
  assert.equal(
    (await signIn(new Authenticator(live.url), { id: passkey.create(data.options).id })).message,
    PASSKEY_REFUSED,
  );
  assert.equal((await signIn(passkey)).status, 200);
  await sql`update staff set ended_at = now() where name = 'Sam Ended'`.execute(database);
  assert.equal((await signIn(passkey)).message, PASSKEY_REFUSED);
});

test('who is signed in adds another passkey, and nobody else does', async () => {
  const browser = await local.signedIn('staff');
  const { data } = await browser.call('getPasskeyOptions', { body: { isNew: true } });
  const passkey = new Authenticator(local.url);
  const credential = passkey.create(data.options);
  assert.equal((await local.browser().call('addPasskey', { body: { credential } })).message, SIGNED_OUT);
  const colleague = await local.signedIn('staff');
  assert.equal((await colleague.call('addPasskey', { body: { credential } })).message, PASSKEY_REFUSED);
  assert.equal((await browser.call('addPasskey', { body: { credential } })).status, 200);
  assert.equal(
    (await local.browser().call('getPasskeyOptions', { body: { isNew: true } })).message,
    SIGNED_OUT,
  );
});

test('a session ends by signing out, everywhere if asked, by disuse, by age, and with the access', async () => {
  const token = await local.link('Alex Sessions', 'staff');
  const passkey = new Authenticator(local.url);
  const first = local.browser();
  await first.call('enter', { body: { token } });
  const { data } = await first.call('getPasskeyOptions', { body: { isNew: true } });
  await first.call('addPasskey', { body: { credential: passkey.create(data.options) } });
  const another = async () => {
    const browser = local.browser();
    const { data: asked } = await browser.call('getPasskeyOptions', { body: { isNew: false } });
    await browser.call('signInByPasskey', { body: { credential: passkey.get(asked.options) } });
    assert.equal((await browser.call('getMe')).status, 200);
    return browser;
  };
  const isIn = async (browser: DeskBrowser) => (await browser.call('getMe')).status === 200;
  const [second, third] = [await another(), await another()];
  await second.call('signOut', { body: { everywhere: false } });
  assert.deepEqual([await isIn(first), await isIn(second), await isIn(third)], [true, false, true]);
  await third.call('signOut', { body: { everywhere: true } });
  assert.deepEqual([await isIn(first), await isIn(third)], [false, false]);

  for (const ended of [
    sql`update staff_session set seen_at = now() - interval '8 hours 1 minute'`,
    sql`update staff_session set created_at = now() - interval '24 hours 1 minute'`,
    sql`update staff set ended_at = now() where name = 'Alex Sessions'`,
  ]) {
    const browser = await another();
    await ended.execute(database);
    assert.equal((await browser.call('getMe')).message, SIGNED_OUT);
  }
});

test('every call asks for its role, and says so', async () => {
  for (const role of [null, ...staffRoles]) {
    const browser = role === null ? local.browser() : await local.signedIn(role);
    for (const name of names) {
      const least = deskCalls[name].role;
      if (least === null) continue;
      const { status, message } = await browser.call(name, { params: path });
      if (role === null) assert.deepEqual([status, message], [401, SIGNED_OUT], name);
      else if (!hasRightsOf(role, least))
        assert.deepEqual([status, message], [403, NOT_YOURS], `${name} ${role}`);
      else assert.ok(status !== 401 && status !== 403, `${name} ${role}: ${status}`);
    }
  }
});

test('no call is taken from another origin, as a form, or by a joiner’s cookie', async () => {
  const owner = await local.signedIn('owner');
  const foreign = [
    { origin: server.url },
    { 'content-type': 'text/plain' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'content-type': 'application/x-www-form-urlencoded' },
  ];
  // Every POST call is tried with the first two of these sets of headers, and the first such call with all of them.
  for (const [index, name] of names.filter((each) => deskCalls[each].method === 'POST').entries())
    for (const headers of index === 0 ? foreign : foreign.slice(0, 2)) {
      const { status, message } = await owner.call(name, { params: path, headers });
      if ('content-type' in headers) assert.equal(status, 415, name);
      else assert.deepEqual([status, message], [403, FOREIGN], name);
    }
  const client = server.client();
  await client.call('initiateSchoolJoin', { body: { invitationCode: 'LINCOLN2026' } });
  const cookie = `${client.cookie()}; desk=unknown`;
  for (const name of names.filter((each) => deskCalls[each].role !== null)) {
    const answer = await local.browser().call(name, { params: path, headers: { cookie } });
    assert.deepEqual([answer.status, answer.message], [401, SIGNED_OUT], name);
  }
});

test('the joiners’ server has no call of the desk, nor the desk’s one of theirs', async () => {
  for (const name of names)
    assert.equal(
      (await fetch(server.url + deskCalls[name].path, { method: deskCalls[name].method })).status,
      404,
    );
  assert.equal((await fetch(`${local.url}/api/public/site`)).status, 404);
});

test('what staff did is recorded with who and how it ended, and never changed', async () => {
  const token = await local.link('Recorded', 'staff');
  const browser = local.browser();
  await browser.call('enter', { body: { token } });
  await browser.call('enter', { body: { token } });
  await browser.call('signOut', { body: { everywhere: false } });
  const { rows } = await sql`
    select name, action, outcome from staff_event order by id desc limit 3`.execute(database);
  assert.deepEqual(rows.reverse(), [
    { name: 'Recorded', action: 'enter', outcome: 'done' },
    { name: 'Recorded', action: 'enter', outcome: 'refused' },
    { name: 'Recorded', action: 'signOut', outcome: 'done' },
  ]);
  for (const statement of [sql`update staff_event set name = 'nobody'`, sql`delete from staff_event`])
    await assert.rejects(statement.execute(database), /never changed/);
});

test('an address that signs in too often waits', async (t) => {
  const limited = await startDesk({
    ...server,
    deps: {
      ...server.deps,
      config: {
        ...server.deps.config,
        limits: { deskSignInsPerAddress: { count: 3, minutes: 10 } } as never,
      },
    },
  });
  t.after(() => limited.close());
  const statuses: number[] = [];
  for (let time = 0; time < 4; time++)
    statuses.push((await limited.browser().call('enter', { body: { token: 'unknown' } })).status);
  assert.deepEqual(statuses, [403, 403, 403, 429]);
});
