import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type CallName, calls } from '#contract/calls.ts';
import { OPENED_ELSEWHERE } from '#core/pass.ts';
import {
  type Answer,
  asked,
  type Join,
  ofJoins,
  proveByCode,
  table,
} from '../../../tests/harness/joinCalls.ts';
import { openIntent, orderingJoin, payByCard, reportPayment } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';

/** What anybody who knows the uuid of a join may do with it: everything until it is paid or proven, and then nothing. */
const server = await sharedServer();
const { deps } = server;

const proofs = ['unproven', 'proven by code', 'proven by name'] as const;
type Proof = (typeof proofs)[number];

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
    assert.equal(await proveByCode(server, joiner, uuid), 200);
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
