import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { sendDue } from '../letters/sendLetters.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

async function lettersTo(email: string) {
  while (await sendDue(deps, deps.config.mail!));
  return (await server.letters()).filter(({ to }) => to.includes(email)).map(({ subject }) => subject);
}

test('a member corrects their email on the welcome page: the confirmation goes to the new one, and the former is told', async () => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail: 'mistyped@example.com' });
  const [confirmation] = await lettersTo('mistyped@example.com');
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  const body = { email: ' Right@example.com ' };
  const { status, data } = await client.call('correctEmail', { params: { uuid }, body });
  assert.deepEqual([status, data], [200, { email: 'Right@example.com' }]);
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.email, 'Right@example.com');
  assert.deepEqual(await lettersTo('Right@example.com'), [confirmation]);
  const told = await lettersTo('mistyped@example.com');
  assert.equal(told.length, 2);
  assert.match(told.join(), /was changed/);
  assert.equal((await server.client().call('openPass', { body: { token } })).status, 403);
  assert.equal((await client.call('correctEmail', { params: { uuid }, body })).status, 200, 'said twice');
  assert.equal((await lettersTo('Right@example.com')).length, 1, 'and done once');
});

test('the email is corrected by nobody else: not by who knows the join alone, but by who has proven to be the joiner', async () => {
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: 'mine@example.com',
  });
  const other = server.client();
  const correct = (email: string) => other.call('correctEmail', { params: { uuid }, body: { email } });
  assert.equal((await correct('theirs@example.com')).status, 404);
  assert.equal(await proveByCode(server, other, uuid), 200);
  assert.equal((await correct('my.other@example.com')).status, 200);
  const unpaid = await orderingJoin(other, 'LINCOLN2026', { personalEmail: 'unpaid@example.com' });
  const early = await other.call('correctEmail', {
    params: { uuid: unpaid },
    body: { email: 'a@example.com' },
  });
  assert.equal(early.status, 409);
});

test('an email to which no letter can go is refused with a sentence, and five corrections a day are enough', async (t) => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail: 'first@example.com' });
  limitWith(t, server, { LIMIT_EMAIL_CORRECTIONS_PER_JOIN: '2/60' });
  const correct = (email: string) => client.call('correctEmail', { params: { uuid }, body: { email } });
  for (const email of ['', 'none', 'name@gmail..com']) {
    const { status, errors } = await correct(email);
    assert.deepEqual([status, Object.keys(errors ?? {})], [400, ['email']], email);
  }
  for (const email of ['second@example.com', 'third@example.com'])
    assert.equal((await correct(email)).status, 200);
  assert.equal((await correct('fourth@example.com')).status, 429);
  const { rows } = await sql<{ email: string }>`
    select details ->> 'personalEmail' as email from person where id = (select person_id from join_session where uuid = ${uuid})`.execute(
    deps.database,
  );
  assert.deepEqual(rows, [{ email: 'third@example.com' }]);
});
