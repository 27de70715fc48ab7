import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { dump } from '../../../tests/harness/dump.ts';
import { paymentRow } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { newOrder, payByCard } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { database } = server.deps;

const statesOf = async (email: string) => {
  const { rows } = await sql<{ state: string }>`
    select state from join_session where details ->> 'personalEmail' = ${email}`.execute(database);
  return rows.map(({ state }) => state);
};

test('a join that somebody else paid after the backup is its joiner’s again, and the payment the payer’s', async (t) => {
  const before = await newOrder(server, 'LINCOLN2026', { personalEmail: 'before@example.com' });
  const restore = await dump(server);
  const after = await newOrder(server, 'LINCOLN2026', { personalEmail: 'after@example.com' });
  const intents: string[] = [];
  for (const { client, uuid } of [before, after]) {
    const made = await client.call('createPayLink', {
      params: { uuid },
      body: { agreeToPolicies: true },
    });
    const begun = await server.client().call('beginPayPage', {
      params: { token: made.data.path.split('/').at(-1)! },
      body: { revision: 1, name: 'Alex Rivera', email: 'alex.rivera@example.com' },
    });
    intents.push(begun.data.clientSecret.split('_secret_')[0]!);
    await payByCard(server, intents.at(-1)!);
    await confirmPayment(server.deps, intents.at(-1)!);
  }
  await restore();
  await runCommand(t, server, 'settle', ['--missing']);
  for (const [index, email] of ['before@example.com', 'after@example.com'].entries()) {
    assert.deepEqual(await statesOf(email), ['paid'], email);
    const { by_pay_link, payer_name, receipt_email } = await paymentRow(server, intents[index]!);
    assert.deepEqual(
      [by_pay_link, payer_name, receipt_email],
      [true, 'Alex Rivera', 'alex.rivera@example.com'],
    );
  }
  assert.deepEqual(await statesOf('alex.rivera@example.com'), []);
  const letters = await sql<{ email: string }>`
    select distinct email from letter where kind = 'payer-receipt' and sent_at is null and withdrawn_at is null`.execute(
    database,
  );
  assert.deepEqual(letters.rows, [{ email: 'alex.rivera@example.com' }]);
});
