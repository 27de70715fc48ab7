import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
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
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { sendDueLinks } from './pass/sendLinks.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

const SENTENCE = 'I am 18 or older, or my guardian agrees that I join Honor Scholars.';
const MISSING = { hasGuardianConsent: 'Please confirm your age, or that your parent or guardian agrees.' };

/** Changes society.yaml so that only the high-school programme asks for guardian consent. */
function ask(t: TestContext): void {
  changeSociety(t, server, (source) =>
    source.replace(
      /# guardianConsent: .*/,
      `guardianConsent: ${SENTENCE.replace('Honor Scholars', '{product}')}`,
    ),
  );
}

async function keptOf(uuid: string) {
  const { rows } = await sql<{ guardian_consent: string | null; guardian_consent_at: Date | null }>`
    select guardian_consent, guardian_consent_at from join_session where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  return rows[0]!;
}

const nothing = { guardian_consent: null, guardian_consent_at: null };

test('a programme that asks refuses details without the consent, and keeps its sentence and time once', async (t) => {
  ask(t);
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const params = { uuid };
  const asked = await client.call('getContact', { params });
  assert.deepEqual(asked.data.guardianConsent, { sentence: SENTENCE, isGiven: false });
  for (const body of [details(), { ...details(), hasGuardianConsent: false }]) {
    const refused = await client.call('submitDetails', { params, body });
    assert.deepEqual([refused.status, refused.errors], [400, MISSING]);
  }
  assert.equal((await client.call('getMembershipDetails', { params })).status, 409);
  assert.deepEqual(await keptOf(uuid), nothing);

  const body = { ...details(), hasGuardianConsent: true };
  assert.equal((await client.call('submitDetails', { params, body })).status, 200);
  const kept = await keptOf(uuid);
  assert.equal(kept.guardian_consent, SENTENCE);
  assert.ok(Math.abs(Date.now() - kept.guardian_consent_at!.getTime()) < 60_000);
  const { rows } = await sql<{ details: object }>`
    select details from join_session where uuid = ${uuid}`.execute(server.deps.database);
  assert.ok(!('hasGuardianConsent' in rows[0]!.details), 'it is kept beside the details');

  server.deps.society.programmes['high-school']!.guardianConsent = 'Another sentence.';
  const back = await client.call('getContact', { params });
  assert.deepEqual(back.data.guardianConsent, { sentence: SENTENCE, isGiven: true });
  assert.equal((await client.call('submitDetails', { params, body })).status, 200);
  assert.deepEqual(await keptOf(uuid), kept);
  await client.call('setMembership', { params, body: { membershipId: 1 } });
  assert.equal((await client.call('getCheckoutDetails', { params })).data.guardianConsent, null);
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200, 'it is not asked again');
  assert.deepEqual(await keptOf(uuid), kept);
});

test('details without the consent are refused with every other broken rule at once', async (t) => {
  ask(t);
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const refused = await client.call('submitDetails', {
    params: { uuid },
    body: details({ firstName: '', agreeToPolicies: false }),
  });
  assert.deepEqual(refused.errors, {
    firstName: 'First name is required.',
    agreeToPolicies: 'You must agree to the policies.',
    ...MISSING,
  });
});

test('a programme that does not ask is as it was, beside one that asks', async (t) => {
  ask(t);
  const client = server.client();
  const { data } = await client.call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA: false },
  });
  const params = { uuid: data.uuid };
  assert.equal((await client.call('getContact', { params })).data.guardianConsent, null);
  // Sends the details without guardian consent, as the page does if the programme does not ask for it.
  assert.equal((await client.call('submitDetails', { params, body: details() })).status, 200);
  await client.call('setMembership', { params, body: { membershipId: 3 } });
  assert.equal((await client.call('getCheckoutDetails', { params })).data.guardianConsent, null);
  const intent = await openIntent(client, data.uuid);
  assert.equal((await beginPayment(client, data.uuid, intent.revision)).status, 200);
  assert.deepEqual(await keptOf(data.uuid), nothing);
});

test('a society that does not ask keeps no consent, whatever a page sends', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const params = { uuid };
  const body = { ...details(), hasGuardianConsent: true };
  assert.equal((await client.call('submitDetails', { params, body })).status, 200);
  await client.call('setMembership', { params, body: { membershipId: 1 } });
  const { revision } = await openIntent(client, uuid);
  const begun = await client.call('beginPayment', { params, body: { revision, hasGuardianConsent: true } });
  assert.equal(begun.status, 200);
  assert.deepEqual(await keptOf(uuid), nothing);
});

test('Checkout by a link asks for the consent beside the policies, and nothing is begun without both', async (t) => {
  ask(t);
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: '102' } });
  const uuid = data.joinSessionUuid;
  const params = { uuid };
  const checkout = async () => (await client.call('getCheckoutDetails', { params })).data;
  assert.equal((await checkout()).guardianConsent, SENTENCE);
  const { id, clientSecret, revision } = await openIntent(client, uuid);
  const begin = (body: object) => client.call('beginPayment', { params, body: { revision, ...body } });
  const policies = { agreeToPolicies: 'You must agree to the policies.' };
  for (const [body, errors] of [
    [{}, { ...policies, ...MISSING }],
    [{ agreeToPolicies: true }, MISSING],
    [{ hasGuardianConsent: true }, policies],
  ] as const) {
    const refused = await begin(body);
    assert.deepEqual(
      [refused.status, refused.message, refused.errors],
      [400, Object.values(errors)[0], errors],
    );
    assert.deepEqual(await keptOf(uuid), nothing);
  }
  assert.equal((await begin({ agreeToPolicies: true, hasGuardianConsent: true })).status, 200);
  const kept = await keptOf(uuid);
  assert.equal(kept.guardian_consent, SENTENCE);
  assert.ok(kept.guardian_consent_at);
  server.deps.society.programmes['high-school']!.guardianConsent = 'Another sentence.';
  assert.equal((await checkout()).guardianConsent, null);
  assert.equal((await begin({})).status, 200, 'the consent is kept');
  await payByCard(server, id);
  assert.equal((await reportPayment(client, uuid, { id, clientSecret })).data.status, 'succeeded');
  assert.deepEqual(await keptOf(uuid), kept);
});

test('whose details were saved before the programme asked is asked at Checkout', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026');
  ask(t);
  const params = { uuid };
  const { guardianConsent, hasAgreedToPolicies } = (await client.call('getCheckoutDetails', { params })).data;
  assert.deepEqual([guardianConsent, hasAgreedToPolicies], [SENTENCE, true]);
  const { revision } = await openIntent(client, uuid);
  const refused = await beginPayment(client, uuid, revision);
  assert.deepEqual([refused.status, refused.errors], [400, MISSING]);
  const begun = await client.call('beginPayment', { params, body: { revision, hasGuardianConsent: true } });
  assert.equal(begun.status, 200);
  assert.equal((await keptOf(uuid)).guardian_consent, SENTENCE);
});

test('an upgrade that is offered after paying asks nothing more', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  ask(t);
  const charged = await client.call('createUpgradeCharge', {
    params: { uuid },
    body: { paymentIntent: intentId },
  });
  assert.equal(charged.data.status, 'succeeded');
});

test('the consent is exported with its person, and erased with them, though the join was paid', async (t) => {
  ask(t);
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const email = 'consenting@example.com';
  const body = { ...details({ personalEmail: email }), hasGuardianConsent: true };
  await client.call('submitDetails', { params: { uuid }, body });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  await reportPayment(client, uuid, intent);
  const { guardian_consent_at: at } = await keptOf(uuid);

  const to = join(temporaryFolder(t), 'export');
  const exported = await runCommand(t, server, 'person export', [email, '--to', to]);
  assert.equal(exported.code, 0, exported.out);
  const { data } = JSON.parse(readFileSync(join(to, 'data.json'), 'utf8'));
  assert.equal(data.Joins[0].guardian_consent, SENTENCE);
  assert.equal(new Date(data.Joins[0].guardian_consent_at).getTime(), at!.getTime());

  const erased = await runCommand(t, server, 'person erase', [email, '--yes']);
  assert.equal(erased.code, 0, erased.out);
  assert.deepEqual(await keptOf(uuid), nothing);
});

const { deps } = server;

const EMAIL = 'cleaned@example.com';
const WRAPPED = '\u202aCleaned \u200b<mailto:clea\u00adned@exam\u200bple.com>;\u202c';

test('what nobody sees is taken off in every call, so that the joiner is found, written to, exported and erased', async (t) => {
  const client = server.client();
  const uuid = await startJoin(client, ' LINCOLN\u200b2026\ufeff');
  const person = { firstName: 'Zo\u200be\u0308', lastName: 'Clea\u00adned\u00a0', personalEmail: WRAPPED };
  const saved = await client.call('submitDetails', { params: { uuid }, body: details(person) });
  assert.equal(saved.status, 200);
  const { data } = await client.call('getContact', { params: { uuid } });
  assert.deepEqual([data.firstName, data.lastName, data.personalEmail], ['Zoë', 'Cleaned', EMAIL]);

  for (const text of [EMAIL, WRAPPED, 'Clean\u200bed'])
    assert.match((await runCommand(t, server, 'find', [text])).out, new RegExp(`^${uuid}`, 'm'), text);

  assert.equal((await client.call('sendPassLinks', { body: { email: WRAPPED } })).status, 200);
  await sendDueLinks(deps);
  const { email } = await deps.database
    .selectFrom('letter')
    .select('email')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'link')
    .executeTakeFirstOrThrow();
  assert.equal(email, EMAIL);

  const folder = join(temporaryFolder(t), 'export');
  const exported = await runCommand(t, server, 'person export', [WRAPPED, '--to', folder]);
  assert.equal(exported.code, 0, exported.out);
  assert.ok(readFileSync(join(folder, 'data.json'), 'utf8').includes(uuid));
  const erased = await runCommand(t, server, 'person erase', [WRAPPED, '--yes']);
  assert.equal(erased.code, 0, erased.out);
  assert.equal((await runCommand(t, server, 'find', [EMAIL])).code, 1);
});

test('a name or ZIP code that nobody sees is missing', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const body = details({ firstName: '\u200b\u2060', zipcode: '\u3164\0' });
  const { status, errors } = await client.call('submitDetails', { params: { uuid }, body });
  assert.equal(status, 400);
  assert.deepEqual(errors, { firstName: 'First name is required.', zipcode: 'Zipcode is required.' });
});

const addContact = (properties: Record<string, string>) =>
  askHubspot(server.hubspotUrl, 'POST', '', { properties });

test('what HubSpot has of a contact is cleaned, too, its code included', async () => {
  await addContact({
    email: 'unseen@example.com',
    firstname: 'A\u200bda\u00a0 Maria',
    personal_email: '<mailto:unseen@example.com>',
    invitation_code: 'UNSEEN1',
  });
  const client = server.client();
  const uuid = await startJoin(client, 'UNSEEN\u200b1');
  const { data } = await client.call('getContact', { params: { uuid } });
  assert.deepEqual([data.firstName, data.personalEmail], ['Ada Maria', 'unseen@example.com']);
});

test("a contact's country is told by the list's name, and as it is when the list has no such country", async () => {
  for (const [told, country] of [
    ['South Korea', 'Korea, Republic of'],
    ['England', 'United Kingdom'],
    ['US', 'US'],
    ['Atlantis', 'Atlantis'],
  ] as const) {
    const code = `FROM${told.replace(' ', '')}`.toUpperCase();
    await addContact({ email: `${code}@example.com`.toLowerCase(), country: told, invitation_code: code });
    const client = server.client();
    const uuid = await startJoin(client, code);
    assert.equal((await client.call('getContact', { params: { uuid } })).data.country, country);
  }
});
