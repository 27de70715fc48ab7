import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { details, orderingJoin, paidJoin, startJoin } from '../../../tests/harness/steps.ts';
import { type Client, limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { createLog } from '../platform/http/logging.ts';
import { wire } from '../wire.ts';
import { submitDetails } from './submitDetails.ts';

const server = await sharedServer();

const unknown = '00000000-0000-4000-8000-000000000000';

test('a personal code starts a join that is prefilled from its contact', async () => {
  const client = server.client();
  const uuid = await startJoin(client);
  const { data } = await client.call('getContact', { params: { uuid } });
  assert.deepEqual([data.firstName, data.state, data.country], ['Jordan', 'TX', 'US']);
});

test('a code opens no join for a contact that is not its own', async () => {
  const client = server.client();
  await client.call('checkEligibility', { body: { invitationCode: 'HONOR101' } });
  const { status, message } = await client.call('initiateJoin', {
    body: { contactId: '103', invitationCode: 'HONOR101', isTOLA: true },
  });
  assert.equal(status, 404);
  assert.equal(message, 'Eligibility check failed. No contact found or invalid invite code.');
  const asSchool = { invitationCode: 'HONOR101' };
  assert.equal((await client.call('initiateSchoolJoin', { body: asSchool })).status, 404, "nor a school's");
  const ofNobody = { contactId: '9999', invitationCode: 'LINCOLN2026', isTOLA: true };
  assert.equal(
    (await client.call('initiateJoin', { body: ofNobody })).status,
    404,
    "nor a school's code one for a contact that nobody knows",
  );
});

test('a country that the list has is taken, and a state that the country has, in any spelling of its name', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  for (const [country, state, saved] of [
    ['United States', 'Nueva York', null],
    ['United States', 'Ontario', null],
    ['United States', '', null],
    ['Canada', 'Texas', null],
    ['Germany', 'Bavaria', null],
    ['Atlantis', 'Bavaria', null],
    ['US', 'Texas', null],
    ['United States', 'N.Y.', 'New York'],
    ['Canada', 'Québec', 'Quebec'],
    ['Germany', 'bayern', 'Bayern'],
  ] as const) {
    const body = details({ country, state });
    const { status, errors } = await client.call('submitDetails', { params: { uuid }, body });
    const refusedAt = ['Atlantis', 'US'].includes(country) ? 'country' : 'state';
    assert.deepEqual([status, Object.keys(errors ?? {})], saved ? [200, []] : [400, [refusedAt]], state);
    if (!saved) continue;
    const { data } = await client.call('getContact', { params: { uuid } });
    assert.deepEqual([data.country, data.state], [country, saved]);
  }
});

test('a ZIP code that lost its zero is mended by a state that was typed as its code', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const params = { uuid };
  await client.call('submitDetails', { params, body: details({ state: 'MA', zipcode: '2139' }) });
  const { data } = await client.call('getContact', { params });
  assert.deepEqual([data.state, data.zip], ['Massachusetts', '02139']);
});

test('around New Year, the graduation years are taken that the joiner’s own day offers', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const holding = { began: true, proven: false, paid: false };
  const submit = (now: string, highSchoolGraduationYear: string) =>
    submitDetails({ ...server.deps, now: () => new Date(now) }, uuid, holding, {
      ...details({ highSchoolGraduationYear }),
      hasGuardianConsent: false,
    });
  await submit('2026-12-31T20:00:00Z', '2036');
  await submit('2027-01-01T08:00:00Z', '2026');
  await submit('2026-06-01T12:00:00Z', '2026');
  const refusal = { errors: { highSchoolGraduationYear: 'Graduation Year is required.' } };
  await assert.rejects(submit('2026-12-30T08:00:00Z', '2036'), refusal);
  await assert.rejects(submit('2027-01-02T20:00:00Z', '2026'), refusal);
});

test('an expired code starts nothing, by either call', async () => {
  const { status } = await server
    .client()
    .call('initiateSchoolJoin', { body: { invitationCode: 'EXPIRED2025' } });
  assert.equal(status, 404);
  await server.client().call('checkEligibility', { body: { invitationCode: 'HONOR101' } });
  await sql`insert into invitation (code, person_id, expires_at) values ('EXPIRED101', (select id from person where contact_id = '101'), now())`.execute(
    server.deps.database,
  );
  const personal = { contactId: '101', invitationCode: 'EXPIRED101', isTOLA: true };
  assert.equal((await server.client().call('initiateJoin', { body: personal })).status, 404);
});

const CLOSED = 'This program is not open to new members. Please reload the page and start again.';

test('no join begins in a programme that is retired or not in the file, and one that has begun goes on', async (t) => {
  const client = server.client();
  const { database } = server.deps;
  await client.call('checkEligibility', { body: { invitationCode: 'HONOR102' } });
  await sql`insert into invitation (code, person_id, school, programme) values
    ('RETIRED102', (select id from person where contact_id = '102'), null, 'undergraduate'), ('RETIRED2026', null, 'A College', 'undergraduate'),
    ('REMOVED2026', null, 'A College', 'gone')`.execute(database);
  const byCode = async (invitationCode: string, of: Client) => [
    (await of.call('checkEligibility', { body: { invitationCode, isTOLA: true } })).data.message,
    (await of.call('initiateSchoolJoin', { body: { invitationCode } })).message,
  ];
  const begun = await client.call('initJoin', { params: { id: '102' }, body: {} });
  assert.equal(begun.data.programme, 'undergraduate');
  const params = { uuid: begun.data.uuid };
  await client.call('submitDetails', { params, body: details() });
  changeSociety(t, server, (source) =>
    source.replace('name: Honor Collegians\n', 'name: Honor Collegians\n    retired: true\n'),
  );
  const FAILED = 'Eligibility check failed. No contact found or invalid invite code.';
  for (const code of ['RETIRED2026', 'REMOVED2026'])
    assert.deepEqual(await byCode(code, server.client()), [FAILED, FAILED]);
  const personal = { contactId: '102', invitationCode: 'RETIRED102', isTOLA: false };
  const refused = await server.client().call('initiateJoin', { body: personal });
  assert.deepEqual([refused.status, refused.message], [404, FAILED]);
  const linked = await server.client().call('initJoin', { params: { id: '102' }, body: {} });
  assert.deepEqual([linked.status, linked.message], [404, FAILED]);
  const sold = { hubspotContactId: '103', mainProductId: 3 };
  assert.equal((await server.client().call('initiateCheckout', { body: sold })).status, 404);
  const nominated = await server.client().call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA: false, programme: 'undergraduate' },
  });
  assert.deepEqual([nominated.status, nominated.message], [409, CLOSED]);

  const again = await client.call('initJoin', { params: { id: '102' }, body: {} });
  assert.deepEqual([again.data.uuid, again.data.programme], [begun.data.uuid, 'undergraduate']);
  const { data } = await client.call('getMembershipDetails', { params });
  assert.deepEqual(
    [data.eligibility.programme, data.memberships.map(({ id }) => id)],
    ['Honor Collegians', [3]],
  );
  assert.equal((await client.call('setMembership', { params, body: { membershipId: 3 } })).status, 200);
  await sql`delete from invitation where code = 'RETIRED102'`.execute(database);
});

test('a school code starts as many joins as are asked for, prefilled with the school only', async () => {
  const client = server.client();
  const [first, second] = [await startJoin(client, 'LINCOLN2026'), await startJoin(client, 'LINCOLN2026')];
  assert.notEqual(first, second);
  const { data } = await client.call('getContact', { params: { uuid: first } });
  assert.deepEqual([data.highSchoolName, data.firstName, data.email], ['Lincoln High School', null, null]);
  await sql`insert into invitation (code, school, programme) values ('COLLEGE1', 'A College', 'undergraduate')`.execute(
    server.deps.database,
  );
  const college = await client.call('initiateSchoolJoin', { body: { invitationCode: 'COLLEGE1' } });
  assert.equal(college.data.programme, 'undergraduate', "the invitation's");
});

/** Adds a programme `graduate` to the society file: like `undergraduate`, with a membership of its own. */
function withGraduates(source: string): string {
  const [, undergraduate] = /(\n {2}undergraduate:\n.*?)\n\n/s.exec(source)!;
  const graduate = undergraduate!
    .replace('undergraduate:', 'graduate:')
    .replace('defaultMembership: 3', 'defaultMembership: 90');
  const product = `
  - id: 90
    uuid: 0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0090
    type: membership
    programme: graduate
    name: Graduate Membership
    description: Lifetime membership in the society
    price: "120.00"
    floor: "40.00"
    features: [Lifetime membership]`;
  return source
    .replace(undergraduate!, undergraduate + graduate)
    .replace('\ncatalogue:', `\ncatalogue:${product}`);
}

test('of two programmes with the same isTOLA the join begins in the one that is named', async (t) => {
  changeSociety(t, server, withGraduates);
  const client = server.client();
  const code = { contactId: '102', invitationCode: 'HONOR102', startOver: true };
  const begin = async (given: { isTOLA: boolean; programme?: string }) => [
    (await client.call('initiateSelfNomination', { body: { hasConfirmedEligibility: true, ...given } })).data
      .programme,
    (await client.call('initiateJoin', { body: { ...code, ...given } })).data.programme,
  ];
  await client.call('checkEligibility', { body: { invitationCode: 'HONOR102' } });
  assert.deepEqual(await begin({ isTOLA: false, programme: 'graduate' }), ['graduate', 'graduate']);
  assert.deepEqual(await begin({ isTOLA: false }), ['undergraduate', 'undergraduate']);
  for (const programme of ['toString', 'law', 'Undergraduate']) {
    const body = { isTOLA: false, programme };
    const nominated = await client.call('initiateSelfNomination', {
      body: { hasConfirmedEligibility: true, ...body },
    });
    const invited = await client.call('initiateJoin', { body: { ...code, ...body } });
    for (const { status, message } of [nominated, invited])
      assert.deepEqual([status, message], [409, CLOSED]);
  }
});

const byCode = (client: Client) => startJoin(client, 'HONOR102');
const byLink = async (client: Client) =>
  (await client.call('initJoin', { params: { id: '102' }, body: {} })).data.uuid;
for (const [what, begin] of Object.entries({ code: byCode, link: byLink }))
  test(`a personal code or its contact's link continues the join that a ${what} began in this browser, with what was entered`, async () => {
    const client = server.client();
    const uuid = await begin(client);
    await client.call('submitDetails', { params: { uuid }, body: details({ city: 'Round Rock' }) });
    await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
    await client.call('setCustomDonation', { params: { uuid }, body: { amount: 7.5 } });
    assert.deepEqual([await byCode(client), await byLink(client)], [uuid, uuid]);
    assert.equal((await client.call('getContact', { params: { uuid } })).data.city, 'Round Rock');
    const { products } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
    assert.deepEqual(
      products.map(({ price }) => price),
      ['65.00', '7.50'],
    );
  });

test('another browser, another contact, a checkout link and Start Over begin a join of their own', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR102');
  const startOver = { contactId: '102', invitationCode: 'HONOR102', isTOLA: true, startOver: true };
  const { data: sold } = await client.call('initiateCheckout', { body: { hubspotContactId: '102' } });
  const others = [
    uuid,
    await startJoin(server.client(), 'HONOR102'),
    await startJoin(client, 'HONOR103'),
    sold.joinSessionUuid,
    (await client.call('initiateJoin', { body: startOver })).data.uuid,
  ];
  assert.equal(new Set(others).size, others.length);
  const newest = (await client.call('initiateJoin', { body: startOver })).data.uuid;
  await client.call('initiateCheckout', { body: { hubspotContactId: '102' } });
  assert.equal(await startJoin(client, 'HONOR102'), newest, 'which is then continued');
});

test('a join that is paid is not continued by its code', async () => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'HONOR104');
  // Ends the membership, so that the contact may join again.
  await sql`update membership set standing = 'void' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await sql`update person set is_member = false, fetched_at = now() where contact_id = '104'`.execute(
    server.deps.database,
  );
  assert.notEqual(await startJoin(client, 'HONOR104'), uuid);
});

test('an open join tells where it goes on to who knows its id, and the first name to its browser alone', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const openJoin = async (as = client) => (await as.call('getOpenJoin', { params: { uuid } })).data.join;
  assert.deepEqual(await openJoin(), { firstName: null, goOn: '/registration/student-details' });
  await client.call('submitDetails', { params: { uuid }, body: details() });
  assert.deepEqual(await openJoin(), { firstName: 'Jordan', goOn: '/registration/membership' });
  assert.deepEqual(await openJoin(server.client()), { firstName: null, goOn: '/registration/membership' });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  assert.deepEqual(await openJoin(), { firstName: 'Jordan', goOn: '/registration/checkout' });
  const { uuid: paid } = await paidJoin(server, client);
  const asked = async (of: string, as = client) =>
    (await as.call('getOpenJoin', { params: { uuid: of } })).data;
  assert.deepEqual(await asked(unknown), { join: null });
  assert.deepEqual(await asked(paid), { join: null, paid: { firstName: 'Jordan' } });
  assert.deepEqual(await asked(paid, server.client()), { join: null });
});

test('who invited a joiner and why is told in a sentence: a school, somebody unnamed, or nobody', async () => {
  const client = server.client();
  const invitation = async (uuid: string) =>
    (await client.call('getContact', { params: { uuid } })).data.invitation;
  assert.match(
    await invitation(await startJoin(client, 'LINCOLN2026')),
    /to Collegiate Honor Society through Lincoln High School/,
  );
  assert.match(
    await invitation(await startJoin(client, 'HONOR103')),
    /^You were invited to Collegiate Honor Society\.$/,
  );
  await sql`insert into invitation (code, school, nominated_by) values ('NOMINATED7', 'Elm School', 'Ms. Alvarez, counselor at Elm School')`.execute(
    server.deps.database,
  );
  assert.equal(
    await invitation(await startJoin(client, 'NOMINATED7')),
    'You were invited to Collegiate Honor Society through Elm School. Nominated by Ms. Alvarez, counselor at Elm School. Collegiate Honor Society is independent, and not part of any school.',
  );
  const body = { hasConfirmedEligibility: true, isTOLA: true };
  const nominated = (await client.call('initiateSelfNomination', { body })).data.uuid;
  assert.match(await invitation(nominated), /^You are nominating yourself/);
  // The contact's data have a school. A self-nomination must not reveal it.
  await sql`update person set profile = profile || '{"schoolName":"Lincoln High School"}' where contact_id = '103'`.execute(
    server.deps.database,
  );
  assert.match(
    await invitation(await startJoin(client, 'HONOR103')),
    /to Collegiate Honor Society through Lincoln High School/,
  );
  await sql`update join_session set person_id = (select id from person where contact_id = '103') where uuid = ${nominated}`.execute(
    server.deps.database,
  );
  assert.match(await invitation(nominated), /^You are nominating yourself/);
});

test('a member is not let in again by code or link', async () => {
  const client = server.client();
  await client.call('checkEligibility', { body: { invitationCode: 'HONOR105' } });
  const byCode = await client.call('initiateJoin', {
    body: { contactId: '105', invitationCode: 'HONOR105', isTOLA: true },
  });
  assert.equal(byCode.status, 409);
  const byLink = await client.call('initJoin', { params: { id: '105' }, body: {} });
  assert.equal(byLink.status, 409);
  assert.match(byLink.message ?? '', /already a member/);
  const started = await server.deps.database
    .selectFrom('join_session')
    .select('uuid')
    .where('person_id', '=', personId('105'))
    .execute();
  assert.deepEqual(started, [], 'and nothing is written');
});

test('a self-nomination needs the confirmation', async () => {
  const refused = await server
    .client()
    .call('initiateSelfNomination', { body: { hasConfirmedEligibility: false, isTOLA: true } });
  assert.equal(refused.status, 400);
  const started = await server
    .client()
    .call('initiateSelfNomination', { body: { hasConfirmedEligibility: true, isTOLA: false } });
  assert.equal(started.data.programme, 'undergraduate');
});

test('a link to a contact starts a join, an unknown contact is told in the sentence of the catalogue', async () => {
  assert.equal((await server.client().call('initJoin', { params: { id: '102' }, body: {} })).status, 200);
  await sql`insert into invitation (code, person_id, programme) values ('LINKED102', (select id from person where contact_id = '102'), 'undergraduate')`.execute(
    server.deps.database,
  );
  const invited = await server.client().call('initJoin', { params: { id: '102' }, body: {} });
  assert.equal(invited.data.programme, 'undergraduate', "its invitation's");
  const missing = await server.client().call('initJoin', { params: { id: '999999' }, body: {} });
  assert.deepEqual([missing.status, missing.message], [404, 'Failed to initiate join process.']);
});

test('wherever HubSpot is real, a link must be signed, and says nothing about whether the contact exists', async (t) => {
  const { config, links } = server.deps;
  const real = { ...config, providers: { ...config.providers, emulated: false } };
  const wired = await wire(real, createLog('silent'));
  server.deps.links = wired.deps.links;
  t.after(() => {
    server.deps.links = links;
    return Promise.all([wired.database.destroy(), wired.background.destroy()]);
  });
  const begin = (id: string, body: object = {}) => server.client().call('initJoin', { params: { id }, body });
  const [known, unknown] = [await begin('101'), await begin('999999')];
  assert.deepEqual([known.status, unknown.status], [403, 403]);
  assert.equal(known.message, unknown.message);
  const linkTo = (contactId: string, ms: number) =>
    server.deps.links.sign({ kind: 'init', contactId }, new Date(Date.now() + ms));
  assert.match((await begin('101', linkTo('101', -1000))).message ?? '', /expired/);
  assert.equal((await begin('101', linkTo('102', 60_000))).status, 403);
});

test('details are refused with every broken rule, and nothing is written', async () => {
  const client = server.client();
  const uuid = await startJoin(client);
  const { status, message, errors } = await client.call('submitDetails', {
    params: { uuid },
    body: details({ firstName: ' ', personalEmail: 'x', agreeToPolicies: false }),
  });
  assert.equal(status, 400);
  assert.equal(message, 'Failed to submit student details.');
  assert.deepEqual(errors, {
    firstName: 'First name is required.',
    personalEmail: 'Invalid email address.',
    agreeToPolicies: 'You must agree to the policies.',
  });
  assert.equal((await client.call('getMembershipDetails', { params: { uuid } })).status, 409);
});

test('what was submitted in this session wins over the contact', async () => {
  const client = server.client();
  const uuid = await startJoin(client);
  await sql`update person set profile = profile || '{"address2":"Apartment 7"}' where contact_id = '101'`.execute(
    server.deps.database,
  );
  assert.equal((await client.call('getContact', { params: { uuid } })).data.address2, 'Apartment 7');
  const sent = await client.call('submitDetails', {
    params: { uuid },
    body: { ...details({ firstName: ' Jo ', city: 'Dallas' }), isTOLA: true },
  });
  assert.deepEqual([sent.status, sent.message], [200, 'Student details submitted successfully!']);
  const { data } = await client.call('getContact', { params: { uuid } });
  assert.deepEqual(
    [data.firstName, data.city, data.address, data.address2, data.zip, data.acceptedPrivacyPolicy],
    ['Jo', 'Dallas', '12 Oak Street', '', '78701', true],
  );
});

test('details that were submitted before a field existed leave that field to the contact', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client, 'HONOR101');
  await sql`update join_session set details = details - 'city' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const { status, data } = await client.call('getContact', { params: { uuid } });
  assert.deepEqual([status, data.city], [200, 'Austin']);
});

test('after payment a session answers no more prefill, and says where it goes on', async () => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026');
  const { status, goOn, body } = await client.call('getContact', { params: { uuid } });
  assert.equal(status, 409);
  assert.match(goOn ?? '', /^\/registration\/upgrade\?payment_intent=pi_/);
  assert.ok(!JSON.stringify(body).includes('Jordan'));
});

test('a membership is chosen, chosen again and changed; the order has one', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await client.call('setSessionProduct', {
    params: { uuid },
    body: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030' },
  });
  const before = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  const same = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.deepEqual(same, before);
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  const { products, revision } = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.deepEqual(
    products.map(({ productId, price }) => [productId, price]),
    [
      [2, '89.00'],
      [30, '12.00'],
    ],
  );
  assert.equal(revision, before.revision + 1);
  assert.equal(
    (await client.call('getMembershipDetails', { params: { uuid } })).data.selectedMembershipId,
    2,
  );
});

test('a membership that is chosen again keeps the price and name at which it was chosen first', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const before = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  changeSociety(t, server, (source) => source.replace('price: "65.00"', 'price: "70.00"'));
  const chosen = await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  assert.equal(chosen.status, 200);
  const after = (await client.call('getCheckoutDetails', { params: { uuid } })).data;
  assert.deepEqual(after, before);
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  const [membership] = (await client.call('getCheckoutDetails', { params: { uuid } })).data.products;
  assert.equal(membership?.price, '70.00');
});

test('a membership of another programme, an upgrade, a store item or nothing at all cannot be chosen', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  for (const membershipId of [3, 10, 30, 999])
    assert.equal(
      (await client.call('setMembership', { params: { uuid }, body: { membershipId } })).status,
      404,
    );
});

test('an unknown session and a path that names none are 404 with a sentence', async () => {
  for (const uuid of [unknown, 'nonsense']) {
    const { status, message } = await server.client().call('getMembershipDetails', { params: { uuid } });
    assert.deepEqual([status, message], [404, 'This join session was not found. Please start over.']);
  }
});

test('joins by one personal code are limited; a school of 300 behind one address is not', async (t) => {
  await sql`with often as (insert into person (contact_id, profile, fetched_at) values ('881001', '{}', now()) returning id)
    insert into invitation (code, person_id) select 'OFTEN1', id from often`.execute(server.deps.database);
  limitWith(t, server, { LIMIT_JOINS_PER_CODE: '2/60' });
  const begin = (call: 'initiateJoin' | 'initiateSchoolJoin', body: object) =>
    server.client().call(call, { body });
  const personal = () => begin('initiateJoin', { contactId: '881001', invitationCode: 'OFTEN1' });
  assert.deepEqual([(await personal()).status, (await personal()).status], [200, 200]);
  const third = await personal();
  assert.equal(third.status, 429);
  assert.ok(Number(third.headers.get('retry-after')) > 0);
  for (let join = 0; join < 3; join++)
    assert.equal((await begin('initiateSchoolJoin', { invitationCode: 'LINCOLN2026' })).status, 200);
  assert.ok(server.deps.config.limits!.joinsPerAddress.count > 300);
});

test('an address that has begun as many joins as it may begins no more in whatever way, until those are an hour old', async (t) => {
  await startJoin(server.client());
  limitWith(t, server, { LIMIT_JOINS_PER_ADDRESS: '1/60' });
  const invite = { contactId: '101', invitationCode: 'HONOR101', isTOLA: true };
  const nomination = { hasConfirmedEligibility: true, isTOLA: true };
  const ways = [
    () => server.client().call('initiateJoin', { body: invite }),
    () => server.client().call('initiateSchoolJoin', { body: { invitationCode: 'LINCOLN2026' } }),
    () => server.client().call('initiateSelfNomination', { body: nomination }),
    () => server.client().call('initJoin', { params: { id: '101' }, body: {} }),
    () => server.client().call('initiateCheckout', { body: { hubspotContactId: '101' } }),
  ];
  for (const start of ways) {
    const refused = await start();
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '3600']);
  }
  for (const start of ways) {
    await sql`update join_session set created_at = created_at - interval '1 hour'`.execute(
      server.deps.database,
    );
    assert.equal((await start()).status, 200);
  }
});

test('what is left out or null is empty, and the rules say what is missing', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const nulls = { ...details(), middleName: null, address2: null, schoolEmail: null, isTOLA: null };
  assert.equal((await client.call('submitDetails', { params: { uuid }, body: nulls })).status, 200);
  const missing = await client.call('submitDetails', {
    params: { uuid },
    body: { ...details(), firstName: null, city: undefined },
  });
  assert.deepEqual(missing.errors, { firstName: 'First name is required.', city: 'City is required.' });
  const noCode = await client.call('checkEligibility', { body: { isTOLA: null } });
  assert.equal(noCode.message, 'Invite code is required.');
});

test("a path that names no contact says so in the catalogue's sentence", async () => {
  for (const id of ['abc', '-1']) {
    const { status, message } = await server.client().call('initJoin', { params: { id }, body: {} });
    assert.deepEqual([status, message], [404, 'Failed to initiate join process.']);
  }
  const line = await server.client().call('deleteSessionProduct', { params: { sessionProductUuid: 'xyz' } });
  assert.deepEqual([line.status, line.message], [404, 'This item is not in the order.']);
});
