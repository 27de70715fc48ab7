import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { newContact } from '../../../../tests/harness/deliver.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../../tests/harness/steps.ts';
import { type Client, limitWith, sharedServer } from '../../../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../../../tests/harness/upgrades.ts';
import { confirmPayment } from '../../paying/confirmPayment.ts';
import { refundJoin } from '../../paying/refunds/refundJoin.ts';
import { sendDueLinks } from './sendLinks.ts';

const server = await sharedServer();
const { deps } = server;

/** Requests links for this email and makes the letters due. Returns the join and the recipient of each letter. */
async function linksFor(email: string): Promise<string[][]> {
  await deps.database.deleteFrom('letter').where('kind', '=', 'link').execute();
  assert.equal((await server.client().call('sendPassLinks', { body: { email } })).status, 200);
  await sendDueLinks(deps);
  const letters = await deps.database
    .selectFrom('letter')
    .select(['session_uuid', 'email'])
    .where('kind', '=', 'link')
    .orderBy('session_uuid')
    .execute();
  return letters.map(({ session_uuid, email: to }) => [session_uuid!, to!]);
}

test('"Send me my link" mails one for each person whose join has the email, and forgets who asked', async () => {
  const email = 'family@example.com';
  const person = (firstName: string) => ({ firstName, personalEmail: 'Family@example.com' });
  const [client, abandoned] = [server.client(), server.client()];
  await orderingJoin(abandoned, 'LINCOLN2026', person('Ana'));
  const { uuid: paid } = await paidJoin(server, client, 'LINCOLN2026', person('Ana'));
  const begun = await orderingJoin(client, 'LINCOLN2026', person('Ben'));
  const again = await orderingJoin(server.client(), 'LINCOLN2026', person('Ana'));
  assert.deepEqual(
    await linksFor(` ${email} `),
    [paid, begun].sort().map((uuid) => [uuid, 'Family@example.com']),
  );
  await refundJoin(deps, paid, { membership: true, ineligible: false, upgrade: false, items: 'none' });
  assert.deepEqual(
    (await linksFor(email)).map(([uuid]) => uuid),
    [again, begun].sort(),
    'the newest that was left behind takes its place',
  );
  assert.deepEqual(await linksFor('nobody@example.com'), []);
  assert.deepEqual(await deps.database.selectFrom('pass_request').selectAll().execute(), []);
});

test('an email gets four links at most: to the join that is paid, and to those that were begun last', async () => {
  const person = (firstName: string) => ({ firstName, personalEmail: 'many@example.com' });
  const { uuid: paid } = await paidJoin(server, server.client(), 'LINCOLN2026', person('Ana'));
  const begun: string[] = [];
  for (const name of ['Ben', 'Cleo', 'Dan', 'Eve'])
    begun.push(await orderingJoin(server.client(), 'LINCOLN2026', person(name)));
  assert.deepEqual(
    (await linksFor('many@example.com')).map(([uuid]) => uuid),
    [paid, ...begun.slice(1)].sort(),
  );
});

test('a request that a backup brought back is forgotten, and nothing is sent for it', async () => {
  const email = 'restored.request@example.com';
  const uuid = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: email });
  for (const minutes of [61, 59])
    await sql`insert into pass_request (email, created_at) values (${email}, now() - make_interval(mins => ${minutes}))`.execute(
      deps.database,
    );
  assert.equal(await sendDueLinks(deps), 2);
  const letters = await sql`select from letter where kind = 'link' and session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.equal(letters.rows.length, 1);
  assert.deepEqual(await deps.database.selectFrom('pass_request').selectAll().execute(), []);
});

test('of more requests than are taken at a time, the oldest come first', async () => {
  const { database } = deps;
  await sql`
    insert into pass_request (email, created_at)
    select 'nobody' || age || '@example.com', now() - make_interval(mins => age) from generate_series(1, 25) as age`.execute(
    database,
  );
  assert.equal(await sendDueLinks(deps), 20);
  const { rows } = await sql<{ age: string }>`
    select substring(email from '\\d+') as age from pass_request order by created_at desc`.execute(database);
  assert.deepEqual(
    rows.map(({ age }) => age),
    ['1', '2', '3', '4', '5'],
  );
  assert.equal(await sendDueLinks(deps), 5);
});

test("an email that only a contact has leads to no join of that contact's id", async () => {
  const { data } = await server.client().call('initJoin', { params: { id: '104' }, body: {} });
  const { data: contact } = await server.client().call('getContact', { params: { uuid: data.uuid } });
  const email = contact.personalEmail ?? contact.email;
  assert.ok(email);
  assert.deepEqual(await linksFor(email), []);
  // An email that was typed only for a receipt gets no link before the payment.
  const checkout = await server.client().call('initiateCheckout', { body: { hubspotContactId: '104' } });
  await openIntent(server.client(), checkout.data.joinSessionUuid);
  await sql`update payment set receipt_email = 'typed@example.com' where session_uuid = ${checkout.data.joinSessionUuid}`.execute(
    deps.database,
  );
  assert.deepEqual(await linksFor('typed@example.com'), []);
});

test('who paid by a checkout link and gave no details gets the link at the email of the receipt', async () => {
  const { uuid } = await upgradeByLink(server, '105');
  await sql`update payment set receipt_email = 'Receipt.Of@example.com' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.deepEqual(await linksFor('receipt.of@example.com'), [[uuid, 'Receipt.Of@example.com']]);
});

test('whom a checkout link was paid for gets the link at their own email, which the payer was not shown', async () => {
  const id = await newContact(server, 'paid.for@example.com');
  await server.deps.contacts.refresh(id);
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: id } });
  const uuid = data.joinSessionUuid;
  assert.deepEqual(await linksFor('paid.for@example.com'), []);
  await payOrder(server, client, uuid);
  assert.deepEqual(await linksFor('Paid.For@example.com'), [[uuid, 'paid.for@example.com']]);
});

test('the email that a receipt went to leads to no join whose details give another email', async () => {
  await startJoin(server.client());
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: 'joiner@example.com',
  });
  await sql`update payment set receipt_email = 'payer@example.com' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.deepEqual(await linksFor('payer@example.com'), []);
  assert.deepEqual(await linksFor('joiner@example.com'), [[uuid, 'joiner@example.com']]);
});

test('whether an email is known is told by neither words nor status nor the work that is done', async () => {
  await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'known@example.com' });
  const ask = async (email: string) => {
    const statements: string[] = [];
    const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
    const watched = mock.method(
      pg.Client.prototype,
      'query',
      function (this: pg.Client, ...given: unknown[]) {
        const [first] = given as [string | { text: string }];
        statements.push(typeof first === 'string' ? first : first.text);
        return query.apply(this, given);
      },
    );
    try {
      const { status, message, data } = await server.client().call('sendPassLinks', { body: { email } });
      return { status, message, data, statements };
    } finally {
      watched.mock.restore();
    }
  };
  const known = await ask('known@example.com');
  assert.equal(known.status, 200);
  assert.ok(known.statements.length > 0);
  assert.deepEqual(await ask('nobody@example.com'), known);
  await sendDueLinks(deps);
});

test('requests for links are limited by email, however it is spelt, silently, and by address', async (t) => {
  limitWith(t, server, { LIMIT_PASS_LINKS_PER_EMAIL: '2/60', LIMIT_PASS_LINKS_PER_ADDRESS: '5/60' });
  const ask = (email: string) => server.client().call('sendPassLinks', { body: { email } });
  const answers = [];
  for (const spelt of ['often@example.com', ' Often@example.com', 'OFTEN@EXAMPLE.COM'])
    answers.push((await ask(spelt)).body);
  assert.deepEqual(answers[2], answers[0]);
  const { rows } = await sql`select from pass_request where email = 'often@example.com'`.execute(
    deps.database,
  );
  assert.equal(rows.length, 2);
  assert.equal((await ask('not an email')).status, 400);
  await ask('a@example.com');
  await ask('b@example.com');
  assert.equal((await ask('c@example.com')).status, 429);
  await sendDueLinks(deps);
});

test('of two servers that look at once, one makes the letters of a request due', async () => {
  await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'once@example.com' });
  await server.client().call('sendPassLinks', { body: { email: 'once@example.com' } });
  const taken = await Promise.all([1, 2, 3].map(() => sendDueLinks(deps)));
  assert.equal(
    taken.reduce((sum, count) => sum + count, 0),
    1,
  );
});

const tokenOf = (uuid: string) => new URL(deps.passes.address(uuid)).hash.slice(1);

/** Returns a client (a browser) whose user has proven to be the joiner, by the code that was mailed for the join. */
async function provenBrowser(uuid: string): Promise<Client> {
  const client = server.client();
  const token = tokenOf(uuid);
  await client.call('sendPassCode', { body: { token } });
  const { occasion } = await deps.database
    .selectFrom('letter')
    .select('occasion')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'code')
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow();
  const proof = { token, code: deps.passes.code(uuid, occasion) };
  assert.equal((await client.call('provePassByCode', { body: proof })).status, 200);
  return client;
}

/** Makes a join that a stranger began in one browser, and that its joiner then opened by a link in another browser. */
async function provenElsewhere(personalEmail: string) {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger, 'LINCOLN2026', { personalEmail });
  return { stranger, uuid, joiner: await provenBrowser(uuid) };
}

const isOffered = async (client: Client, uuid: string) =>
  (await client.call('getUpgradeDetails', { params: { uuid } })).data?.isEligibleForUpgrade ?? false;

/** Returns which personal data of a paid join a browser gets. */
async function seenBy(client: Client, uuid: string) {
  const params = { uuid };
  const { data: welcome } = await client.call('getWelcome', { params });
  return {
    name: !!welcome?.firstName,
    receipt: !!welcome?.receipt,
    papers: !!welcome?.papers,
    certificate: (await client.fetch(`/api/public/join-session/${uuid}/certificate.pdf`)).status,
    press: (await client.call('getPressRelease', { params })).status,
    verification: (await client.call('setVerification', { params, body: { isVerifiable: true } })).status,
    pass: (await client.call('openPass', { body: { token: tokenOf(uuid) } })).data.join !== null,
  };
}

const EVERYTHING = {
  name: true,
  receipt: true,
  papers: true,
  certificate: 200,
  press: 200,
  verification: 200,
  pass: true,
};
const NOTHING = {
  name: false,
  receipt: false,
  papers: false,
  certificate: 404,
  press: 404,
  verification: 404,
  pass: false,
};

test("who began a join in somebody's name sees nothing of it and charges no card, once its joiner has opened it by its link and paid", async () => {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger);
  const joiner = await provenBrowser(uuid);
  const paid = await payOrder(server, joiner, uuid);
  assert.deepEqual(await seenBy(joiner, uuid), EVERYTHING);
  assert.deepEqual(await seenBy(stranger, uuid), NOTHING);
  assert.equal(await isOffered(stranger, uuid), false);
  for (const options of [{}, { charge: false }])
    assert.equal((await charge(stranger, uuid, paid.intentId, options)).status, 404);
  assert.equal(await isOffered(joiner, uuid), true);
  assert.equal((await charge(joiner, uuid, paid.intentId)).data.status, 'succeeded');
});

test("who knew a join's uuid before it was paid, and so its client secret, sees nothing of it and charges no card afterwards", async () => {
  const began = server.client();
  const stranger = server.client();
  const uuid = await orderingJoin(began, 'LINCOLN2026', { personalEmail: 'another.browser@example.com' });
  const intent = await openIntent(stranger, uuid);
  await payByCard(server, intent.id);
  await confirmPayment(deps, intent.id);
  assert.equal((await reportPayment(stranger, uuid, intent)).data.status, 'succeeded');
  assert.deepEqual(await seenBy(stranger, uuid), NOTHING);
  assert.equal((await charge(stranger, uuid, intent.id)).status, 404);
  assert.equal((await reportPayment(began, uuid, intent)).data.status, 'succeeded');
  assert.deepEqual(await seenBy(began, uuid), EVERYTHING);
  assert.equal((await charge(began, uuid, intent.id)).data.status, 'succeeded');
});

test('the client secret of a payment that another browser made opens nothing after such a proof', async () => {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger);
  const intent = await openIntent(stranger, uuid);
  const joiner = await provenBrowser(uuid);
  await payOrder(server, joiner, uuid);
  for (const other of [stranger, server.client()]) {
    assert.equal((await reportPayment(other, uuid, intent)).data.status, 'succeeded');
    assert.deepEqual(await seenBy(other, uuid), NOTHING);
    assert.equal(await isOffered(other, uuid), false);
  }
});

test('a code goes on with a join that its joiner has opened by its link only where they did', async () => {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger, 'HONOR101');
  const joiner = await provenBrowser(uuid);
  const again = async (client: Client) => {
    const body = { contactId: '101', invitationCode: 'HONOR101', isTOLA: true };
    return (await client.call('initiateJoin', { body })).data.uuid;
  };
  assert.notEqual(await again(stranger), uuid);
  assert.equal(await again(joiner), uuid);
});

test('the browser that paid keeps its join when its joiner opens it by its link elsewhere as well', async () => {
  const laptop = server.client();
  const uuid = await orderingJoin(laptop);
  const { intentId } = await payOrder(server, laptop, uuid);
  const phone = await provenBrowser(uuid);
  assert.deepEqual(await seenBy(phone, uuid), EVERYTHING);
  assert.deepEqual(await seenBy(laptop, uuid), EVERYTHING);
  assert.equal(await isOffered(phone, uuid), false);
  assert.equal((await charge(laptop, uuid, intentId)).data.status, 'succeeded');
});

test('who began a join and proves to be its joiner in the same browser goes on there', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await provenBrowser(uuid);
  const body = { token: tokenOf(uuid), lastName: 'Rivera', zipcode: '78701' };
  assert.equal((await client.call('provePassByName', { body })).status, 200);
  const { intentId } = await payOrder(server, client, uuid);
  assert.equal(await isOffered(client, uuid), true);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('after a proof no call of who began a join ends a payment that its joiner is making', async () => {
  const { stranger, uuid, joiner } = await provenElsewhere('authenticating@example.com');
  const intent = await openIntent(joiner, uuid);
  await beginPayment(joiner, uuid, intent.revision);
  const confirmation = {
    payment_method: 'pm_card_authenticationRequired',
    return_url: server.url,
    use_stripe_sdk: 'true',
  };
  await server.stripe('POST', `/v1/payment_intents/${intent.id}/confirm`, confirmation);
  await sql`update join_session set paying_since = now() - interval '20 seconds' where uuid = ${uuid}`.execute(
    deps.database,
  );
  const params = { uuid };
  for (const other of [stranger, server.client()])
    for (const answer of [
      await other.call('submitDetails', { params, body: details() }),
      await other.call('releasePayment', { params, body: {} }),
      await other.call('setMembership', { params, body: { membershipId: 2 } }),
      await other.call('setCustomDonation', { params, body: { amount: '5.00' } }),
      await other.call('setSessionProduct', {
        params,
        body: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030' },
      }),
    ])
      assert.ok(answer.status === 404 || answer.status === 409, answer.message ?? '');
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intent.id}`);
  assert.equal((body as never as { status: string }).status, 'requires_action');
  assert.equal((await joiner.call('releasePayment', { params, body: {} })).data.state, 'ordering');
});
