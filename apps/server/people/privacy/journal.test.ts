import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { newContact } from '../../../../tests/harness/deliver.ts';
import { erasedRows, writeNotice } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { details, openIntent, orderingJoin, paidJoin } from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';
import { sendDueLinks } from '../../joining/pass/sendLinks.ts';
import { sendDue } from '../../letters/sendLetters.ts';
import { cancelIntent } from '../../paying/cancelIntent.ts';
import { journalPath } from './journal.ts';

/** Tests the journal of erasures, which repeats erasures in a restored database. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

const erase = (t: TestContext, ...args: string[]) => runCommand(t, server, 'person erase', args);

test('what a restored database has again is erased again by the journal, which names nobody', async (t) => {
  const client = server.client();
  const email = 'restored@example.com';
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: email });
  const { rows: before } = await sql<{
    row: object;
  }>`select to_jsonb(join_session) as row from join_session where uuid = ${uuid}`.execute(deps.database);
  assert.equal((await erase(t, email, '--yes')).code, 0);
  const journal = readFileSync(journalPath(deps), 'utf8');
  assert.ok(journal.includes(uuid) && !journal.includes('@') && !/Jordan|Rivera/.test(journal));
  assert.equal(statSync(journalPath(deps)).mode % 0o1000, 0o600);

  // Undoes the erasure in the database, as restoring an older backup would.
  await sql`delete from erasure`.execute(deps.database);
  await sql`with own as (insert into person (profile) values ('{}') returning id)
    update join_session set erased_at = null, person_id = own.id from own where uuid = ${uuid}`.execute(
    deps.database,
  );
  await sql`update join_session set details = ${JSON.stringify((before[0]!.row as { details: object }).details)} where uuid = ${uuid}`.execute(
    deps.database,
  );
  await sql`update payment set receipt_email = ${email} where session_uuid = ${uuid}`.execute(deps.database);

  // In the backup, the last intent of the join is open.
  await sql`
    insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision)
    values ('pi_of_the_backup', ${uuid}, 'join', 9, 'open', '', '', 6500, 9)`.execute(deps.database);

  const { code, out } = await erase(t, '--again');
  assert.deepEqual(
    [code, /\d+ erasures in the journal, 1 made again, 0 refused\./.test(out)],
    [0, true],
    out,
  );
  assert.ok((await erasedRows(server, uuid))[0]!.erased_at);
  const { rows } = await sql<{
    details: object | null;
  }>`select details from join_session where uuid = ${uuid}`.execute(deps.database);
  assert.equal(rows[0]!.details, null);
  assert.match((await erase(t, email, '--yes')).out, /^Erased already/);
  assert.match((await erase(t, '--again')).out, /, 0 made again, 0 refused/);

  const absent = join(temporaryFolder(t), 'none');
  assert.deepEqual(await erase(t, '--again', absent), {
    code: 1,
    out: `There is no journal at ${absent}.\n`,
  });
});

test('an email in letters and payments of others, and notices that name its person, go again after a restore', async (t) => {
  const email = 'once.restored@example.com';
  const person = { firstName: 'Ottoline', lastName: 'Restored' };
  const { uuid } = await paidJoin(server, server.client(), undefined, { personalEmail: email, ...person });
  const other = server.client();
  const others = await orderingJoin(other, undefined, { personalEmail: email });
  const { id: intentId } = await openIntent(other, others);
  assert.ok(await cancelIntent(deps, intentId));
  await other.call('sendPassLinks', { body: { email } });
  await sendDueLinks(deps);
  while (await sendDue(deps, deps.config.mail!));
  const corrected = details({ personalEmail: 'somebody.else@example.com' });
  await other.call('submitDetails', { params: { uuid: others }, body: corrected });
  /** Writes rows that contain the email or name, as a restored backup has them. The rows were created `age` ago. */
  const write = async (age: string) => {
    const at = sql`now() - ${age}::interval`;
    await sql`update payment set receipt_email = ${email}, created_at = ${at} where intent_id = ${intentId}`.execute(
      deps.database,
    );
    await sql`update letter set email = ${email}, sent_at = now(), created_at = ${at} where session_uuid = ${others}`.execute(
      deps.database,
    );
    await sql`insert into pass_request (email, created_at) values (${email}, ${at})`.execute(deps.database);
    for (const text of [`a letter to ${email}`, 'Ottoline Restored wrote'])
      await writeNotice(server, text, age);
  };
  const left = async () => {
    const { rows } = await sql<{ place: string }>`
      select 'letter' as place from letter where email = ${email}
      union select 'payment' from payment where receipt_email = ${email}
      union select 'pass_request' from pass_request where email = ${email}
      union select 'notice of the email' from staff_notice where strpos(params::text, ${email}) > 0
      union select 'notice of the name' from staff_notice where strpos(params::text, 'Ottoline') > 0 order by 1`.execute(
      deps.database,
    );
    return rows.map(({ place }) => place);
  };
  const everywhere = ['letter', 'notice of the email', 'notice of the name', 'pass_request', 'payment'];
  await write('1 hour');
  const { rows: before } = await sql<{ details: object }>`
    select details from join_session where uuid = ${uuid}`.execute(deps.database);
  assert.equal((await erase(t, email, '--yes')).code, 0);
  assert.deepEqual(await left(), []);

  await write('1 hour');
  await sql`with own as (insert into person (profile) values ('{}') returning id)
    update join_session set erased_at = null, person_id = own.id from own where uuid = ${uuid}`.execute(
    deps.database,
  );
  await sql`update join_session set details = ${JSON.stringify(before[0]!.details)} where uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.deepEqual(await left(), everywhere);
  const again = await erase(t, '--again');
  assert.equal(again.code, 0, again.out);
  assert.deepEqual(await left(), []);

  // Rows that are newer than the erasure stay.
  await write('0');
  assert.equal((await erase(t, '--again')).code, 0);
  assert.deepEqual(await left(), everywhere);
  assert.equal((await erase(t, email, '--yes')).code, 0);
  await sql`delete from staff_notice where strpos(params::text, 'Ottoline') > 0`.execute(deps.database);
});

test('who joined anew after having been erased is not erased by the journal, and what a backup brought back is', async (t) => {
  const email = 'again@example.com';
  const contactId = await newContact(server, email);
  await deps.contacts.refresh(contactId);
  const resume = async (name: string) =>
    assert.equal((await postPdf(server.client(), pathOf('uploadResume'), { contactId, name })).status, 200);
  const documents = async () =>
    (
      await sql<{
        name: string;
      }>`select name from document where person_id = (select id from person where contact_id = ${contactId}) order by name`.execute(
        deps.database,
      )
    ).rows.map(({ name }) => name);
  const contact = async () =>
    (
      await sql<{ email: string | null }>`select email from person where contact_id = ${contactId}`.execute(
        deps.database,
      )
    ).rows[0]?.email;
  assert.equal((await erase(t, email, '--yes')).code, 0);
  const journal = join(temporaryFolder(t), 'journal');
  writeFileSync(journal, `${readFileSync(journalPath(deps), 'utf8').trimEnd().split('\n').at(-1)}\n`);

  // HubSpot has not erased the contact, and the person joins again by a new invitation.
  await deps.contacts.refresh(contactId);
  await sql`insert into invitation (code, person_id) values ('ANEW2026', (select id from person where contact_id = ${contactId}))`.execute(
    deps.database,
  );
  await resume('new.pdf');
  const { uuid } = await paidJoin(server, server.client(), 'ANEW2026', { personalEmail: email });
  // The older resume simulates a resume that a restored backup has brought back.
  await resume('old.pdf');
  await sql`update document set created_at = now() - interval '1 year' where name = 'old.pdf'`.execute(
    deps.database,
  );
  const { code, out } = await erase(t, '--again', journal);
  assert.deepEqual([code, out], [0, '1 erasures in the journal, 1 made again, 0 refused.\n']);
  assert.deepEqual([await documents(), await contact()], [['new.pdf'], email]);
  assert.equal((await erasedRows(server, uuid))[0]!.erased_at, null);
  const { rows } = await sql`select from invitation where code = 'ANEW2026'`.execute(deps.database);
  assert.equal(rows.length, 1);
  assert.match((await erase(t, '--again', journal)).out, /, 0 made again, 0 refused/);

  // Backdates the contact's row to before the erasure, as in a restored backup.
  await sql`update person set fetched_at = now() - interval '1 year' where contact_id = ${contactId}`.execute(
    deps.database,
  );
  assert.match((await erase(t, '--again', journal)).out, /, 1 made again, 0 refused/);
  assert.deepEqual([await documents(), await contact()], [['new.pdf'], null]);
});

test('a contact that HubSpot has told of since the erasure stays, though an invitation of before goes', async (t) => {
  const email = 'told.again@example.com';
  const id = await newContact(server, email);
  await deps.contacts.refresh(id);
  assert.equal((await erase(t, email, '--yes')).code, 0);
  const journal = join(temporaryFolder(t), 'journal');
  writeFileSync(journal, `${readFileSync(journalPath(deps), 'utf8').trimEnd().split('\n').at(-1)}\n`);
  await deps.contacts.refresh(id);
  await sql`insert into invitation (code, person_id, created_at) values ('BEFORE2025', (select id from person where contact_id = ${id}), now() - interval '1 year')`.execute(
    deps.database,
  );
  assert.match((await erase(t, '--again', journal)).out, /, 1 made again, 0 refused/);
  const { rows } = await sql`
    select email, exists (select from invitation where person_id = id) as is_invited from person where contact_id = ${id}`.execute(
    deps.database,
  );
  assert.deepEqual(rows, [{ email, is_invited: false }]);
});

test('a line of the journal that was half written is skipped, and neither it nor a broken one stands in the way of the others', async (t) => {
  const journal = journalPath(deps);
  const before = readFileSync(journal, 'utf8');
  t.after(() => writeFileSync(journal, before));
  const count = before.trimEnd().split('\n').length;
  const half = before.slice(0, 40);

  appendFileSync(journal, half);
  assert.deepEqual(await erase(t, '--again'), {
    code: 0,
    out: `${journal}, line ${count + 1}: it was half written when this machine went down, and nothing was erased by it. It is skipped.\n${count} erasures in the journal, 0 made again, 0 refused.\n`,
  });
  const email = 'after.half@example.com';
  const { uuid } = await paidJoin(server, server.client(), undefined, { personalEmail: email });
  assert.equal((await erase(t, email, '--yes')).code, 0);
  const lines = readFileSync(journal, 'utf8').split('\n');
  assert.deepEqual([lines[count], lines.length], [half, count + 3]);
  assert.ok(lines[count + 1]!.includes(uuid), 'on a line of its own');
  assert.deepEqual(await erase(t, '--again'), {
    code: 1,
    out: `${journal}, line ${count + 1}: this is no erasure.\n${count + 1} erasures in the journal, 0 made again, 0 refused.\n`,
  });
});
