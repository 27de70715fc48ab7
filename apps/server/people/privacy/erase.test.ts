import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { contactIdOf, deliver, newContact } from '../../../../tests/harness/deliver.ts';
import { pdf } from '../../../../tests/harness/documents.ts';
import { dump } from '../../../../tests/harness/dump.ts';
import { placesIn } from '../../../../tests/harness/placesIn.ts';
import { listStripe } from '../../../../tests/harness/providers.ts';
import { writeNotice } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  openIntent,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { reconcile } from '../../books/reconcile.ts';
import { lookAtContacts } from '../../crm/followContacts.ts';
import { moveContacts } from '../../crm/followMerges.ts';
import { sendDue } from '../../letters/sendLetters.ts';
import { followPayment } from '../../paying/refunds/followPayment.ts';
import { wordsWith } from '../../session/words.ts';
import { journalPath } from './journal.ts';

const server = await sharedServer({ LIMITS: 'on' }, { hubspotLimits: 'off' });
const { deps } = server;

const placesOf = (texts: readonly string[]) => placesIn(server, texts);

const person = {
  firstName: 'Zebulonia',
  lastName: 'Quixworthy',
  address1: '77 Wanderlust Terrace',
  city: 'Xanaduville',
  zipcode: '59901',
  personalEmail: 'Zebulonia.Q@Example.org',
  schoolEmail: 'ZQ@lyceum.example.edu',
  highSchoolName: 'Lyceum of Nowhere',
};
const texts = [...Object.values(person), 'zebulonia-resume', 'zebulonia-transcript', 'Quix'];

async function upload(
  client: ReturnType<typeof server.client>,
  path: string,
  name: string,
  fields: Record<string, string> = {},
) {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.append(key, value);
  form.append('file', new Blob([new Uint8Array(pdf())]), name);
  assert.equal((await client.fetch(path, { method: 'POST', body: form })).status, 200);
}

/** Returns the metadata and description of each intent and each charge at Stripe. */
async function notesAtStripe(): Promise<object[]> {
  const kinds = ['payment_intents', 'charges'];
  type Noted = { id: string; metadata: object; description: string };
  const all = await Promise.all(kinds.map((kind) => listStripe<Noted>(server.stripeUrl, kind)));
  return all.flat().map(({ metadata, description }) => ({ metadata, description }));
}

test('after a whole join is erased, nothing that names its person is left anywhere', async (t) => {
  const client = server.client();
  const { uuid } = (await client.call('initiateSelfNomination', { body: { hasConfirmedEligibility: true } }))
    .data;
  const params = { uuid };
  await client.call('submitDetails', { params, body: details(person) });
  await client.call('setMembership', { params, body: { membershipId: 1 } });
  const { products } = (await client.call('getCheckoutDetails', { params })).data;
  const amount = Math.round(products.reduce((sum, { price }) => sum + Number(price), 0) * 100);
  const opened = await client.call('createPaymentIntent', {
    params,
    body: { amount, currency: 'usd', billingEmail: person.personalEmail },
  });
  const intentId = opened.data.clientSecret.split('_secret_')[0]!;
  await beginPayment(client, uuid, opened.data.revision);
  assert.equal((await payByCard(server, intentId, 'pm_card_visa_chargeDeclined')).status, 402);
  await payByCard(server, intentId);
  await reportPayment(client, uuid, { id: intentId, clientSecret: opened.data.clientSecret });
  const upgrade = await client.call('createUpgradeCharge', { params, body: { paymentIntent: intentId } });
  assert.equal(upgrade.status, 200);
  await upload(client, `/api/public/join-session/${uuid}/upload-transcript`, 'zebulonia-transcript.pdf');
  await deliver(server);
  const contact = await contactIdOf(server, uuid);
  await lookAtContacts(deps, [contact]);
  await upload(client, '/api/public/upload-resume', 'zebulonia-resume.pdf', { contactId: contact });
  await client.call('sendPassLinks', { body: { email: person.personalEmail } });
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  assert.equal((await client.call('sendPassCode', { body: { token } })).status, 200);
  assert.equal((await client.call('createUploadLink', { params })).status, 200);
  await sql`
    insert into card_failure (charge_id, session_uuid, address_hash)
    select 'ch_declined', uuid, address_hash from join_session where uuid = ${uuid}`.execute(deps.database);
  const note = `left with ${person.firstName}`;
  assert.equal((await runCommand(t, server, 'orders ship', [uuid, '--note', note])).code, 0);
  await sendDue(deps, deps.config.mail!);
  await writeNotice(server, `${person.firstName} ${person.lastName} <${person.personalEmail}>`);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '500' });
  await followPayment(deps, intentId);
  const { rows: kept } = await sql<{ id: string }>`
    select distinct customer_id as id from payment where session_uuid = ${uuid} and customer_id <> ''`.execute(
    deps.database,
  );
  const customer = kept[0]!.id;

  const refused = await runCommand(t, server, 'person erase', [person.personalEmail, '--yes']);
  assert.deepEqual(
    [refused.code, refused.out],
    [1, `Join ${uuid} is not erased: its transcript waits for a decision.\n`],
  );
  await sql`update document set review = 'accepted', reviewed_at = now() where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.ok((await placesOf(texts)).length > 15, 'it is everywhere before');
  const counted = (await placesOf([person.personalEmail, '127.0.0.1'])).filter((place) =>
    /^limit_count|127/.test(place),
  );
  assert.deepEqual(counted, [], 'limits are counted by hashes');
  const naming = async () => new Set((await placesOf([uuid])).map((place) => place.split('.')[0]!));
  const before = await naming();
  for (const table of ['card_failure', 'pass', 'upload_link']) assert.ok(before.has(table), table);

  const shown = await runCommand(t, server, 'person erase', [person.personalEmail, '--dry-run']);
  assert.equal(shown.code, 0);
  assert.ok(
    shown.out.includes(uuid) && (await placesOf(texts)).length > 15,
    'shown alone, it changes nothing',
  );
  const asked = await runCommand(t, server, 'person erase', [person.personalEmail]);
  assert.deepEqual([asked.code, /Nothing was erased/.test(asked.out)], [1, true]);

  const to = join(temporaryFolder(t), 'receipt.txt');
  const { code, out } = await runCommand(t, server, 'person erase', [
    ` ${person.personalEmail.toUpperCase()}`,
    '--yes',
    '--hubspot',
    '--to',
    to,
  ]);
  assert.equal(code, 0, out);
  assert.match(out, /^Gone: 1 join with .*, 2 documents, \d+ letters, 1 contact of the mirror;/m);
  assert.match(out, /^At Stripe: 1 customer .*\nAt HubSpot: 1 contact and 0 files\.$/m);
  assert.deepEqual(await placesOf(texts), []);
  const accounts = ['erasures', 'join_session', 'membership', 'order_snapshot', 'payment', 'shipment'];
  assert.deepEqual([...(await naming())].sort(), accounts);
  const { rows: payments } = await sql`
    select distinct client_secret, customer_id, payment_method_id, card_brand, card_last4
    from payment where session_uuid = ${uuid}`.execute(deps.database);
  assert.deepEqual(payments, [
    { client_secret: '', customer_id: '', payment_method_id: null, card_brand: null, card_last4: null },
  ]);
  const left = await sql`select from limit_count where name = 'pass links by email'`.execute(deps.database);
  assert.equal(left.rows.length, 0, 'nor by a hash');
  const mirrored = await sql`select from person where contact_id = ${contact}`.execute(deps.database);
  assert.equal(mirrored.rows.length, 0, 'nothing else refers to the contact');
  for (const text of texts) assert.ok(!out.toLowerCase().includes(text.toLowerCase()), text);
  assert.ok(out.endsWith(readFileSync(to, 'utf8')) && statSync(to).mode % 0o1000 === 0o600);
  assert.deepEqual(
    readdirSync(server.documents).filter((name) => name.length > 30),
    [],
  );

  assert.equal(await server.hubspot.getContact(contact, 5_000), null);
  const atStripe = await server.stripe('GET', `/v1/customers/${customer}`);
  assert.equal((atStripe.body as { deleted?: boolean }).deleted, true);
  const notes = await notesAtStripe();
  assert.equal(notes.length, 5, 'two intents, a charge that was declined and two that were not');
  for (const text of ['Zebulonia', 'Quixworthy', person.highSchoolName])
    assert.ok(!JSON.stringify(notes).includes(text), text);

  // A payment can be refunded even after its person was erased.
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '700' });
  await followPayment(deps, intentId);
  const { rows } = await sql<{
    cents: number;
  }>`select refunded_cents as cents from payment where intent_id = ${intentId}`.execute(deps.database);
  assert.equal(rows[0]!.cents, 1_200);
  await deliver(server);
  const { differences } = await reconcile(deps, { graceMinutes: 0 });
  // The only remaining differences are refunds from Stripe's dashboard that staff have not assigned.
  assert.deepEqual(new Set(differences.map(({ kind }) => kind)), new Set(['refund_unassigned']));
  assert.deepEqual(await placesOf(texts), [], 'and brings nothing back');
  assert.equal(await server.hubspot.findByEmail(person.personalEmail), null);
  assert.equal((await client.call('getWelcome', { params })).status, 404);

  const second = await runCommand(t, server, 'person erase', [person.personalEmail, '--yes']);
  assert.deepEqual(
    [second.code, /^Erased already, at 20.*Z\. Nothing is left of them here\.$/m.test(second.out)],
    [0, true],
  );
});

/**
 * Writes the data of one person with three joins, a correction, and a chain of merged contacts and persons. Every text has
 * `mark`. `beforeMerges` runs when nothing is merged or corrected yet. Returns emails that the person has or had.
 */
async function plant(mark: string, beforeMerges: () => Promise<void> = async () => {}): Promise<string[]> {
  const { database } = deps;
  const email = (name: string) => `${mark}-${name}@example.com`;
  const contacts: string[] = [];
  for (const name of ['first', 'second', 'third']) contacts.push(await newContact(server, email(name)));
  for (const id of contacts) await deps.contacts.refresh(id);
  const [first, second, third] = contacts as [string, string, string];
  const given = (name: string) => ({
    firstName: `${mark}Fn`,
    lastName: `${mark}Ln`,
    address1: `${mark} Street`,
    personalEmail: email(name),
    schoolEmail: email(`${name}-school`),
  });
  const begin = async (id: string, name: string) => {
    const client = server.client();
    const { uuid } = (await client.call('initJoin', { params: { id }, body: {} })).data;
    const params = { uuid };
    assert.equal((await client.call('submitDetails', { params, body: details(given(name)) })).status, 200);
    assert.equal((await client.call('setMembership', { params, body: { membershipId: 1 } })).status, 200);
    return { client, uuid };
  };
  const paid = await begin(first, 'paid');
  const left = await begin(first, 'left');
  await openIntent(left.client, left.uuid);
  await payOrder(server, paid.client, paid.uuid);
  await upload(
    paid.client,
    `/api/public/join-session/${paid.uuid}/upload-transcript`,
    `${mark}-transcript.pdf`,
  );
  await upload(paid.client, '/api/public/upload-resume', `${mark}-resume.pdf`, { contactId: first });
  const own = await paidJoin(server, server.client(), undefined, given('own'));
  while (await sendDue(deps, deps.config.mail!));
  await sql`update document set review = 'accepted', reason = null, reviewed_at = now(), crm_refusal = ${mark} where name like ${`${mark}%`}`.execute(
    database,
  );
  await sql`
    insert into invitation (code, person_id, created_at)
    select upper(${mark}) || id, id, now() - interval '1 hour' from person where contact_id = any(${contacts})`.execute(
    database,
  );
  await sql`
    insert into crm_delivery (person_id, due_since, due_at, refusal, sent)
    select distinct person_id, now(), now(), ${mark}, ${JSON.stringify({ mark })}::jsonb from join_session
    where uuid = any(${[paid.uuid, left.uuid, own.uuid]}::uuid[])
    on conflict (person_id) do update set refusal = excluded.refusal, sent = excluded.sent`.execute(database);
  await sql`
    update join_session set guardian_consent = ${mark}, address_hash = ${mark}
    where uuid = any(${[paid.uuid, left.uuid, own.uuid]}::uuid[])`.execute(database);
  await sql`insert into join_event (session_uuid, step, cause, detail) values (${paid.uuid}, 'details_submitted', 'joiner', ${JSON.stringify({ mark })}::jsonb)`.execute(
    database,
  );
  await writeNotice(server, `A letter to ${email('second')} came back.`);
  await sql`insert into pass_request (email) values (${email('third')})`.execute(database);
  await beforeMerges();

  await database.transaction().execute((trx) => moveContacts(trx, [{ old: first, present: second }]));
  await database.transaction().execute((trx) => moveContacts(trx, [{ old: second, present: third }]));
  // Staff merge a self-nominated person into the one who remains. The merged row keeps its data.
  const remains = sql`(select id from person where contact_id = ${third})`;
  const { rows } = await sql<{ id: number }>`
    select person_id as id from join_session where uuid = ${own.uuid}`.execute(database);
  for (const table of ['join_session', 'membership', 'document'])
    await sql`update ${sql.table(table)} set person_id = ${remains} where person_id = ${rows[0]!.id}`.execute(
      database,
    );
  await sql`
    update person set words = ${wordsWith(sql`own.words`)} from person own where own.id = ${rows[0]!.id} and person.id = ${remains}`.execute(
    database,
  );
  await sql`
    update person set merged_into = (select id from person where contact_id = ${second}), found_contact_id = ${mark}, email = ${mark},
      profile = ${JSON.stringify({ mark })} where id = ${rows[0]!.id}`.execute(database);
  const corrected = details(given('corrected'));
  await sql`
    update person set details = ${JSON.stringify(corrected)}::jsonb, likeness = ${likenessOf(corrected)}, found_contact_id = ${mark},
      words = ${searchWords(corrected)} || ' ' || words
    where id = ${remains}`.execute(database);
  return ['first', 'second', 'third', 'paid-school', 'own', 'corrected'].map(email);
}

test('of a person with a correction and a chain of merges nothing is left, by whichever of their emails they are erased', async (t) => {
  const mark = 'zqmarkx';
  const emails = await plant(mark);
  assert.ok((await placesOf([mark])).length > 40, 'it is everywhere before');
  // Anybody who has the code can type any email, so the email leads only to the join. The output names the contact as one that
  // stays.
  const typed = await runCommand(t, server, 'person erase', [`${mark}-left@example.com`, '--dry-run']);
  assert.match(typed.out, /^join .*\nstays: contact \d+, which a join names/m);
  const trials: string[][] = [];
  for (const email of emails)
    trials.push((await runCommand(t, server, 'person erase', [email, '--dry-run'])).out.split('\n').sort());
  assert.equal(trials[0]!.filter((line) => /^(join|contact) /.test(line)).length, 6);
  for (const trial of trials) assert.deepEqual(trial, trials[0]);
  const { code, out } = await runCommand(t, server, 'person erase', [emails[0]!, '--yes']);
  assert.equal(code, 0, out);
  assert.deepEqual(await placesOf([mark]), []);
  for (const email of emails)
    assert.match(
      (await runCommand(t, server, 'person erase', [email, '--yes'])).out,
      /^Erased already/,
      email,
    );
});

test('a backup from before corrections and merges is erased again by the journal, which names nobody', async (t) => {
  const mark = 'zqbackupx';
  const restore: (() => Promise<void>)[] = [];
  const emails = await plant(mark, async () => void restore.push(await dump(server)));
  assert.equal((await runCommand(t, server, 'person erase', [emails.at(-1)!, '--yes'])).code, 0);
  assert.ok(!readFileSync(journalPath(deps), 'utf8').includes('zq'));
  await restore[0]!();
  assert.ok((await placesOf([mark])).length > 30, 'it is there again');
  const { code, out } = await runCommand(t, server, 'person erase', ['--again']);
  assert.equal(code, 0, out);
  assert.deepEqual(await placesOf([mark]), []);
});

/** The columns of each table that contain no personal data. `*` means all columns of the table. */
const nobodys: Record<string, string> = {
  browser_report: '*',
  crm_budget: '*',
  crm_delivery: 'due_at due_since revision tries',
  page_file: '*',
  schedule: '*',
  secret: '*',
  stripe_event: '*',
  migration: '*',
  card_failure: 'created_at',
  document:
    'created_at crm_attempts crm_next_try_at id is_final kind media_type removed_at review reviewed_at size_bytes',
  erasure: 'erased_at',
  event_retry: 'attempts created_at id next_try_at',
  forget_at_stripe: 'kind',
  invitation: 'campaign created_at expires_at is_withdrawn programme withdrawn_at',
  invitation_count: '*',
  invitation_import:
    'campaign claimed_until counts created_at doubts failure id is_emptied kind mint once read_bytes size_bytes state',
  invitation_import_part: 'import_id kind number',
  join_event: 'at cause id step',
  join_session:
    'begun_revision created_at erased_at has_agreed_to_policies intent_change intent_changing_since lines origin paid_at paying_since programme proven_at provider_failures revision state updated_at upgrade upsell_product_id',
  ledger_month: 'fault month read_at reading_at summary transactions',
  letter: 'attempts created_at due_at id kind next_try_at sent_at withdrawn_at',
  limit_count: 'count name window_start',
  membership: 'created_at id is_held is_unlisted product_id standing type',
  order_snapshot: 'amount_cents created_at goods items kind processing_fee_cents revision',
  pass: 'code_expires_at name_tries revoked_at tries',
  pass_request: 'created_at id',
  person: 'created_at deleted_at erased_at fetched_at id made_contact merged_into',
  person_merge: 'created_at id',
  person_note: 'created_at id removed_at',
  kept_apart: 'created_at',
  payment:
    'amount_cents attempt by_pay_link checked_at created_at dispute followed has_unsent_goods kind looked_at refunded_cents revision saves_card seen_at seen_status status succeeded_at updated_at',
  reconciliation: 'counts finished_at id started_at',
  refund:
    'amount_cents assigned_at attempts created_at is_dispute lines next_try_at reason refusal status stripe_id updated_at uuid',
  reminder_stop: 'stopped_at',
  shipment: 'goods id line product_id shipped_at unshipped_at',
  staff: 'created_at ended_at id role',
  staff_challenge: '*',
  staff_event: 'action at id outcome',
  staff_identity: 'created_at staff_id used_at',
  staff_turn: '*',
  staff_link: 'created_at expires_at staff_id used_at',
  staff_passkey: 'counter created_at staff_id transports used_at',
  staff_session: 'created_at seen_at staff_id',
  staff_notice: 'count created_at ended_at id kind last_seen_at',
  upload_link: 'created_at expires_at',
  pay_link: 'created_at expires_at',
  refund_request: 'amount_cents asked created_at declined_at',
};

test('each column of each table is in docs/privacy.md, or known to hold nobody’s data', async () => {
  const page = readFileSync(new URL('../../../../docs/privacy.md', import.meta.url), 'utf8');
  const named = new Set([...page.matchAll(/`([a-z_]+\.[a-z0-9_]+)`/g)].map(([, column]) => column!));
  const { rows } = await sql<{ table: string; column: string }>`
    select table_name as table, column_name as column from information_schema.columns where table_schema = 'public'`.execute(
    deps.database,
  );
  assert.ok(rows.length > 150);
  const isNobodys = ({ table, column }: { table: string; column: string }) =>
    nobodys[table] === '*' || nobodys[table]?.split(' ').includes(column) === true;
  const name = ({ table, column }: { table: string; column: string }) => `${table}.${column}`;
  const missing = rows.filter((row) => !named.has(name(row)) && !isNobodys(row)).map(name);
  assert.deepEqual(missing, [], 'write them into docs/privacy.md');
  const both = rows.filter((row) => named.has(name(row)) && isNobodys(row)).map(name);
  assert.deepEqual(both, [], 'they are personal or not');
  const tables = new Set(rows.map(({ table }) => table));
  const known = new Set(rows.map(name));
  const gone = [
    ...Object.entries(nobodys).flatMap(([table, columns]) =>
      columns === '*'
        ? tables.has(table)
          ? []
          : [table]
        : columns.split(' ').map((column) => `${table}.${column}`),
    ),
    ...[...named].filter((column) => tables.has(column.split('.')[0]!)),
  ].filter((column) => !known.has(column));
  assert.deepEqual(gone, [], 'there is no such column any more');
});
