import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { dump } from '../../../tests/harness/dump.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runAsStaff, runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { reconcile } from '../books/reconcile.ts';
import { sendDueLinks } from '../joining/pass/sendLinks.ts';
import { ChangedMeanwhile, correctPerson, previewCorrection } from './correctPerson.ts';
import { personNamed } from './personNamed.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;
const { database } = deps;

const correct = (t: TestContext, ...args: string[]) => runCommand(t, server, 'person correct', args);
const { mail, lettersTo, paid: paidSchoolJoin } = identityOn(server);

async function metadataOf(intentId: string): Promise<Record<string, string>> {
  return (await deps.payments.retrieveIntent(intentId)).metadata;
}

test('a correction is shown first, and followed by letters, papers, links, HubSpot, find and what a restore needs', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'HONOR103', {
    firstName: 'Sma',
    lastName: 'Okafor',
    personalEmail: 'sma.okafor@example.com',
  });
  await deliver(server);
  assert.equal((await lettersTo('sma.okafor@example.com')).length, 1);
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  const change = ['--first-name', 'Sam', '--email', 'sam.okafor@example.org'];
  const shown = await correct(t, uuid, ...change, '--resend', '--dry-run');
  assert.deepEqual(
    [shown.code, shown.out],
    [
      0,
      'first-name  Sma → Sam\nemail  sma.okafor@example.com → sam.okafor@example.org\nLinks in letters already sent stop working.\nThe certificate and press release show the new name from now on.\nReceipts that Stripe already sent went to the old address.\nSent again: the confirmation.\n',
    ],
  );
  assert.equal((await runCommand(t, server, 'find', ['sam.okafor@example.org'])).code, 1);
  const done = await runAsStaff(t, server, 'Kim', 'person correct', uuid, ...change, '--resend', '--yes');
  assert.equal(done.code, 0, done.out);

  const letters = await lettersTo('sam.okafor@example.org');
  assert.equal(letters.length, 1);
  assert.match(letters[0]!.raw, /Sam/);
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.firstName, 'Sam');
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.email, 'sam.okafor@example.org');
  const release = await client.call('getPressRelease', { params: { uuid } });
  assert.match(JSON.stringify(release.data), /Sam Okafor/);
  await deliver(server);
  const { firstname, personal_email } = await atHubspot(server, '103', 'firstname', 'personal_email');
  assert.deepEqual([firstname, personal_email], ['Sam', 'sam.okafor@example.org']);
  for (const text of ['sam okafor', 'sma', 'sam.okafor@example.org', 'sma.okafor@example.com'])
    assert.match((await runCommand(t, server, 'find', text.split(' '))).out, new RegExp(uuid), text);
  const { first_name, email } = await metadataOf(intentId);
  assert.deepEqual([first_name, email], ['Sam', 'sam.okafor@example.org']);
  assert.equal((await server.client().call('openPass', { body: { token } })).status, 403);
  assert.match((await runCommand(t, server, 'story', [uuid])).out, /corrected.*Kim/i);

  const again = await correct(t, uuid, ...change);
  assert.deepEqual([again.code, again.out], [0, 'All of that is so already.\n']);
});

test('links are mailed to the corrected address, and none to the one of before', async (t) => {
  const { uuid } = await paidSchoolJoin({ personalEmail: 'old.links@example.com' });
  await server.client().call('sendPassLinks', { body: { email: 'old.links@example.com' } });
  await sendDueLinks(deps);
  assert.equal((await correct(t, uuid, '--email', 'new.links@example.com')).code, 0);
  for (const email of ['old.links@example.com', 'new.links@example.com'])
    await server.client().call('sendPassLinks', { body: { email } });
  await sendDueLinks(deps);
  await mail();
  const { rows } = await sql<{ email: string; isSent: boolean }>`
    select email, sent_at is not null as "isSent" from letter where kind = 'link' and session_uuid = ${uuid} order by created_at`.execute(
    database,
  );
  assert.deepEqual(rows, [
    { email: 'old.links@example.com', isSent: false },
    { email: 'new.links@example.com', isSent: true },
  ]);
});

test('a letter that the mistyped address refused is sent to the right one, and so is one that is on its way to it', async (t) => {
  const letterOf = (uuid: string) => sql`session_uuid = ${uuid} and kind = 'confirmation'`;
  const refused = await paidSchoolJoin({ personalEmail: 'refused@exmaple.com' });
  await sql`update letter set refusal = '550 5.1.1', attempts = 1 where ${letterOf(refused.uuid)}`.execute(
    database,
  );
  assert.equal((await correct(t, refused.uuid, '--email', 'refused@example.com')).code, 0);
  assert.equal((await lettersTo('refused@example.com')).length, 1);

  const taken = await paidSchoolJoin({ personalEmail: 'taken@exmaple.com' });
  await sql`update letter set attempts = 1, next_try_at = now() + interval '12 minutes' where ${letterOf(taken.uuid)}`.execute(
    database,
  );
  const { out } = await correct(t, taken.uuid, '--email', 'taken@example.com', '--resend');
  assert.match(out, /^Sent again: the confirmation\.$/m);
  await sql`update letter set sent_at = now() where ${letterOf(taken.uuid)} and attempts = 1`.execute(
    database,
  );
  assert.equal((await lettersTo('taken@example.com')).length, 1);
});

test('an email that was somebody else’s leaves their contact, which says nothing of the purchases any more', async (t) => {
  const theirs = await newContact(server, 'not.mine@example.com', { lastname: 'Rivera', city: 'Dallas' });
  const { uuid } = await paidSchoolJoin({ personalEmail: 'not.mine@example.com' });
  await deliver(server);
  assert.equal((await atHubspot(server, theirs, 'membership_status')).membership_status, 'member');
  assert.equal((await correct(t, uuid, '--email', 'mine@example.org')).code, 0);
  await deliver(server);
  const left = await atHubspot(server, theirs, 'membership_status', 'amount_paid', 'city');
  assert.deepEqual(
    [left.membership_status || null, left.amount_paid || null, left.city],
    [null, null, 'Dallas'],
  );
  const mine = (await server.hubspot.findByEmail('mine@example.org'))!;
  assert.equal((await atHubspot(server, mine.id, 'membership_status')).membership_status, 'member');
  assert.deepEqual(await noticesOf(server, uuid), []);
});

test('the contact that a join created has the corrected email, too', async (t) => {
  const { uuid } = await paidSchoolJoin({ personalEmail: 'created.slip@example.com' });
  await deliver(server);
  const { id } = (await server.hubspot.findByEmail('created.slip@example.com'))!;
  assert.equal((await correct(t, uuid, '--email', 'created.right@example.com')).code, 0);
  await deliver(server);
  const { email, personal_email } = await atHubspot(server, id, 'email', 'personal_email');
  assert.deepEqual([email, personal_email], ['created.right@example.com', 'created.right@example.com']);
});

test('a correction beside a payment under way is what its member is known by', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: 'under.way@example.com' });
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await correct(t, uuid, '--email', 'right.way@example.com', '--last-name', 'Wayne')).code, 0);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  const { data } = await client.call('getWelcome', { params: { uuid } });
  assert.equal(data.email, 'right.way@example.com');
  assert.equal((await lettersTo('under.way@example.com')).length, 0);
  assert.ok((await lettersTo('right.way@example.com')).length > 0);
  await deliver(server);
  const contact = (await server.hubspot.findByEmail('right.way@example.com'))!;
  assert.equal((await atHubspot(server, contact.id, 'lastname')).lastname, 'Wayne');
});

test('a join that is made again after a restore has the corrected email and name', async (t) => {
  const restore = await dump(server);
  const { uuid } = await paidSchoolJoin({ personalEmail: 'restored.slip@example.com' });
  assert.equal(
    (await correct(t, uuid, '--email', 'restored.right@example.com', '--first-name', 'Nora')).code,
    0,
  );
  await restore();
  const settled = await runCommand(t, server, 'settle', ['--missing']);
  assert.equal(settled.code, 0, settled.out);
  const { rows } = await sql<{ email: string; name: string }>`
    select person.details ->> 'personalEmail' as email, person.details ->> 'firstName' as name
    from join_session join person on person.id = person_id where uuid = ${uuid}`.execute(database);
  assert.deepEqual(rows, [{ email: 'restored.right@example.com', name: 'Nora' }]);
  assert.deepEqual((await reconcile(deps)).differences, []);
});

test('an email that the joiner types after a correction is what a restore knows', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: 'typed.first@example.com' });
  const { id } = await openIntent(client, uuid);
  assert.equal((await correct(t, uuid, '--email', 'typed.by.staff@example.com')).code, 0);
  assert.equal((await metadataOf(id)).email, 'typed.by.staff@example.com');
  const body = details({ personalEmail: 'typed.last@example.com' });
  assert.equal((await client.call('submitDetails', { params: { uuid }, body })).status, 200);
  assert.equal((await openIntent(client, uuid)).id, id);
  const intent = await deps.payments.retrieveIntent(id);
  assert.deepEqual([intent.receiptEmail, intent.metadata.email || null], ['typed.last@example.com', null]);
});

test('who becomes likely the same as another member by a correction is told to staff', async (t) => {
  const person = { firstName: 'Lee', lastName: 'Chen', personalEmail: 'lee@example.com' };
  const { uuid: first } = await paidSchoolJoin(person);
  const { uuid } = await paidSchoolJoin({ ...person, personalEmail: 'lee@example.con' });
  assert.deepEqual(await noticesOf(server, uuid), []);
  assert.equal((await correct(t, uuid, '--email', 'lee@example.com')).code, 0);
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`person merge ${uuid} ${first}`));
});

test('what is wrong is refused by a sentence, and nothing changes', async (t) => {
  const { uuid } = await paidSchoolJoin({ personalEmail: 'stays@example.com' });
  for (const [args, sentence] of [
    [['--email', 'no email'], /Invalid email address\./],
    [['--email', 'name@gmail..com'], /Invalid email address\./],
    [['--first-name', ''], /First name/],
    [['--state', 'Nowhere'], /State/],
  ] as const) {
    const { code, out } = await correct(t, uuid, ...args);
    assert.deepEqual([code, sentence.test(out)], [1, true], out);
  }
  assert.equal((await correct(t, uuid)).code, 2);
  assert.equal((await correct(t, 'me', '--email', 'a@example.com')).code, 2);
  const unknown = await correct(t, '00000000-0000-4000-8000-000000000000', '--email', 'a@example.com');
  assert.deepEqual([unknown.code, /There is no join/.test(unknown.out)], [1, true]);
  const invited = await startJoin(server.client(), 'HONOR102');
  for (const name of [invited, '102']) {
    const { code, out } = await correct(t, name, '--email', 'a@example.com');
    assert.deepEqual([code, /correct the contact in HubSpot/.test(out)], [1, true], out);
  }
  const { rows } = await sql`
    select from person where details ->> 'personalEmail' = 'stays@example.com' and details ->> 'firstName' = 'Jordan'`.execute(
    database,
  );
  assert.equal(rows.length, 1);
});

test('a person who was changed since staff looked is not corrected', async () => {
  const { uuid } = await paidSchoolJoin({ personalEmail: 'looked.at@example.com' });
  const personId = (await personNamed(database, uuid))!;
  const seen = await previewCorrection(deps, personId, { firstName: 'Ada' });
  await sql`update person set details = details || '{"firstName": "Eve"}' where id = ${personId}`.execute(
    database,
  );
  const given = { seen, resends: false };
  await assert.rejects(correctPerson(deps, personId, { firstName: 'Ada' }, given), ChangedMeanwhile);
});
