import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type CallName, calls, type DownloadName, downloadPath, pathOf } from '#contract/calls.ts';
import { OPENED_ELSEWHERE } from '#core/pass.ts';
import { details, openIntent, orderingJoin, payByCard, reportPayment } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';

/** What anybody who knows the uuid of a join may do with it: everything until it is paid or proven, and then nothing. */
const server = await sharedServer();
const { deps } = server;

const proofs = ['unproven', 'proven by code', 'proven by name'] as const;
type Proof = (typeof proofs)[number];

interface Join {
  uuid: string;
  line: string;
  intent: Awaited<ReturnType<typeof openIntent>>;
}
interface Answer {
  status: number;
  text: string;
}
type Ask = (client: Client, join: Join) => Promise<Answer>;

const asked =
  (name: CallName, body?: unknown): Ask =>
  async (client, { uuid, line }) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const { method } = calls[name];
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await client.fetch(pathOf(name, { uuid, sessionProductUuid: line }), {
      method,
      headers,
      ...init,
    });
    return { status: response.status, text: await response.text() };
  };
const downloaded =
  (name: DownloadName): Ask =>
  async (client, { uuid }) => {
    const response = await client.fetch(downloadPath(name, { uuid }));
    return { status: response.status, text: await response.text() };
  };

/**
 * Every call of the public API. Of a call that names a join by its uuid: when it is answered, and how it is asked. Of any other: what
 * its caller has to know instead.
 */
const table: Record<CallName, { when: 'unpaid' | 'paid'; ask: Ask } | { knows: string }> = {
  getOpenJoin: { when: 'unpaid', ask: asked('getOpenJoin') },
  getContact: { when: 'unpaid', ask: asked('getContact') },
  submitDetails: { when: 'unpaid', ask: asked('submitDetails', details({ city: 'Dallas' })) },
  getMembershipDetails: { when: 'unpaid', ask: asked('getMembershipDetails') },
  setMembership: { when: 'unpaid', ask: asked('setMembership', { membershipId: 2 }) },
  getCheckoutDetails: { when: 'unpaid', ask: asked('getCheckoutDetails') },
  setSessionProduct: {
    when: 'unpaid',
    ask: asked('setSessionProduct', { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030' }),
  },
  setCustomDonation: { when: 'unpaid', ask: asked('setCustomDonation', { amount: '7.00' }) },
  deleteSessionProduct: { when: 'unpaid', ask: asked('deleteSessionProduct', {}) },
  createPaymentIntent: {
    when: 'unpaid',
    ask: async (client, join) => {
      const details = await asked('getCheckoutDetails')(client, join);
      const { products = [] } = JSON.parse(details.text).data ?? {};
      const amount = products.reduce((sum: number, { price }: { price: string }) => sum + 100 * +price, 0);
      return asked('createPaymentIntent', { amount, currency: 'usd', billingEmail: 'a@example.com' })(
        client,
        join,
      );
    },
  },
  beginPayment: {
    when: 'unpaid',
    ask: async (client, join) => {
      const details = await asked('getCheckoutDetails')(client, join);
      const { revision = join.intent.revision } = JSON.parse(details.text).data ?? {};
      return asked('beginPayment', { revision })(client, join);
    },
  },
  releasePayment: { when: 'unpaid', ask: asked('releasePayment', {}) },
  getUpgradeDetails: { when: 'paid', ask: asked('getUpgradeDetails') },
  createUpgradeCharge: {
    when: 'paid',
    ask: (client, join) =>
      asked('createUpgradeCharge', { paymentIntent: join.intent.id, charge: false })(client, join),
  },
  skipUpgrade: { when: 'paid', ask: asked('skipUpgrade', {}) },
  uploadTranscript: {
    when: 'paid',
    ask: async (client, { uuid }) => {
      const response = await postPdf(client, pathOf('uploadTranscript', { uuid }));
      return { status: response.status, text: await response.text() };
    },
  },
  getDocuments: { when: 'paid', ask: asked('getDocuments') },
  createUploadLink: { when: 'paid', ask: asked('createUploadLink', {}) },
  getWelcome: { when: 'paid', ask: asked('getWelcome') },
  getPressRelease: { when: 'paid', ask: asked('getPressRelease') },
  setVerification: { when: 'paid', ask: asked('setVerification', { isVerifiable: false }) },
  checkEligibility: { knows: 'an invite code' },
  initiateJoin: { knows: 'an invite code' },
  initiateSchoolJoin: { knows: 'an invite code' },
  initiateSelfNomination: { knows: 'nothing: it begins a join' },
  initJoin: { knows: 'a signed link' },
  initiateCheckout: { knows: 'a signed link' },
  postPayment: { knows: "the payment's client secret" },
  getUploadLink: { knows: 'an upload link' },
  uploadByLink: { knows: 'an upload link' },
  uploadResume: { knows: 'a signed link' },
  openPass: { knows: 'a pass' },
  sendPassCode: { knows: 'a pass' },
  provePassByCode: { knows: 'a pass and a code' },
  provePassByName: { knows: 'a pass, and who the joiner is' },
  sendPassLinks: { knows: 'an email, which alone gets the answer' },
  getReminders: { knows: "a reminder's link" },
  setReminders: { knows: "a reminder's link" },
  verifyNumber: { knows: 'a member number' },
  getSite: { knows: 'nothing: it is about the society' },
};
const papers: Record<DownloadName, { when: 'paid'; ask: Ask }> = {
  certificate: { when: 'paid', ask: downloaded('certificate') },
  pressRelease: { when: 'paid', ask: downloaded('pressRelease') },
};
const ofJoins = [
  ...Object.entries(table),
  ...Object.entries(papers).map(([n, p]) => [`${n}.pdf`, p] as const),
].flatMap(([name, row]) => ('ask' in row ? [{ name, ...row }] : []));

/** Makes a join in the browser `began`, and proves in another browser, which is returned, who its joiner is. */
async function makeJoin(
  began: Client,
  proof: Proof,
  isPaid: boolean,
): Promise<{ join: Join; joiner: Client }> {
  const uuid = await orderingJoin(began);
  const params = { uuid };
  const donation = await began.call('setCustomDonation', { params, body: { amount: '5.00' } });
  const intent = await openIntent(began, uuid);
  const joiner = proof === 'unproven' ? began : server.client();
  const token = new URL(deps.passes.address(uuid)).hash.slice(1);
  if (proof === 'proven by code') {
    await joiner.call('sendPassCode', { body: { token } });
    const letter = deps.database.selectFrom('letter').select('occasion').where('kind', '=', 'code');
    const { occasion } = await letter.where('session_uuid', '=', uuid).executeTakeFirstOrThrow();
    const code = deps.passes.code(uuid, occasion);
    assert.equal((await joiner.call('provePassByCode', { body: { token, code } })).status, 200);
  } else if (proof === 'proven by name') {
    const body = { token, lastName: 'Rivera', zipcode: '78701' };
    assert.equal((await joiner.call('provePassByName', { body })).status, 200);
  }
  if (isPaid) {
    await payByCard(server, intent.id);
    assert.equal((await reportPayment(joiner, uuid, intent)).data.status, 'succeeded');
    // The card's customer is made at Stripe in the background.
    await until(async () => {
      const { rows } =
        await sql`select from payment where intent_id = ${intent.id} and customer_id = ''`.execute(
          deps.database,
        );
      return rows.length === 0;
    });
  }
  return { join: { uuid, line: donation.data.sessionProductUuid!, intent }, joiner };
}

/** Returns a hash of every table. */
async function everything(): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`.execute(deps.database);
  const hashes = tables.map(
    ({ name }) =>
      sql`select ${sql.lit(name)} as name, md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${sql.table(name)} t`,
  );
  return (await sql`${sql.join(hashes, sql` union all `)}`.execute(deps.database)).rows;
}

test('every call that names a join is in the table of what a browser may do', () => {
  const named = (Object.keys(calls) as CallName[]).filter((name) =>
    /\{(uuid|sessionProductUuid)\}/.test(calls[name].path),
  );
  assert.deepEqual(
    named.filter((name) => !('ask' in table[name])),
    ['postPayment'],
  );
});

for (const isPaid of [false, true])
  for (const proof of proofs)
    for (const who of ['the browser that began it', 'the uuid alone'] as const) {
      const isOpen = proof === 'unproven' && (!isPaid || who === 'the browser that began it');
      const cell = `${who}, ${proof}, ${isPaid ? 'paid' : 'unpaid'}`;
      test(`${cell}: ${isOpen ? 'all is answered' : 'nothing is read or written'}`, async () => {
        const began = server.client();
        const { join, joiner } = await makeJoin(began, proof, isPaid);
        const browser = who === 'the uuid alone' ? server.client() : began;
        const answers = async (client: Client, when?: 'unpaid' | 'paid') => {
          const all: [string, Answer][] = [];
          for (const { name, ask, ...row } of ofJoins)
            if (when === undefined || row.when === when) all.push([name, await ask(client, join)]);
          return all;
        };
        const failed = (all: [string, Answer][]) =>
          all
            .filter(([, { status }]) => status !== 200)
            .map(([name, { status, text }]) => [name, status, text]);
        if (isOpen) return assert.deepEqual(failed(await answers(browser, isPaid ? 'paid' : 'unpaid')), []);
        const before = await everything();
        const secret = `${join.intent.id}_secret_guessed`;
        for (const [name, { status, text }] of [
          ...(await answers(browser)),
          [
            'postPayment',
            await asked('postPayment', {
              paymentIntent: join.intent.id,
              paymentIntentClientSecret: secret,
              redirectStatus: 'succeeded',
            })(browser, join),
          ] as const,
        ]) {
          const { data, message, goOn } = JSON.parse(text);
          if (name === 'getOpenJoin') assert.deepEqual(data, { join: null });
          else if (name === 'postPayment') assert.equal(status, 404);
          else assert.deepEqual([name, message, data, goOn], [name, OPENED_ELSEWHERE, undefined, undefined]);
        }
        assert.deepEqual(await everything(), before);
        // The joiner is answered all the same. Nothing is charged to a card by a browser that did not pay with it.
        assert.deepEqual(failed(await answers(joiner, isPaid ? 'paid' : 'unpaid')), []);
      });
    }
