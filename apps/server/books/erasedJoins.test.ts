import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { deliver } from '../../../tests/harness/deliver.ts';
import { chargeOf, refundInDashboard } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { newMember, paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';

const server = await sharedServer();
const run = (t: TestContext, command: string, ...args: string[]) => runCommand(t, server, command, args);

test('a refund of a join that was erased says that HubSpot cannot be told, and goes back all the same', async (t) => {
  const { uuid, intentId } = await newMember(server);
  const made = await refundInDashboard(server, intentId, 500);
  const isTold = ({ out }: { out: string }) =>
    out.startsWith(`Join ${uuid} is erased, so HubSpot cannot be told`);
  const before = await run(t, 'refund', uuid, '--dry-run');
  assert.deepEqual([before.code, isTold(before)], [0, false]);
  await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(server.deps.database);
  const { uuid: refund } = await server.deps.database
    .selectFrom('refund')
    .select('uuid')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  for (const [command, ...args] of [
    ['refund assign', made, '--none'],
    ['refund assign', refund, '--none'],
    ['refund', uuid, '--dry-run'],
    ['refund', uuid],
    ['refund', intentId],
  ] as const) {
    const told = await run(t, command, ...args);
    assert.deepEqual([told.code, isTold(told)], [0, true], told.out);
  }
});

test('a refund of an erased join of which nothing has gone back before says so as well', async (t) => {
  const { uuid, intentId } = await newMember(server);
  await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(server.deps.database);
  for (const subject of [uuid, intentId]) {
    const { out } = await run(t, 'refund', subject, '--dry-run');
    assert.match(out, new RegExp(`^Join ${uuid} is erased, so HubSpot cannot be told`));
  }
});

test('the notice that the membership of an erased join went back in the dashboard says that HubSpot is not told, and no upgrade by link found; that of a dispute says neither', async () => {
  for (const isErased of [false, true]) {
    const { uuid, intentId } = await paidJoin(server, server.client(), undefined, {
      personalEmail: `gone.${isErased}@example.com`,
    });
    await deliver(server);
    if (isErased)
      await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(server.deps.database);
    const { id } = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
    await followPayment(server.deps, intentId);
    await server.stripeControl(`disputes/${id}/close`, { status: 'won' });
    await followPayment(server.deps, intentId);
    assert.doesNotMatch((await noticesOf(server, uuid)).join('\n'), /HubSpot/, 'it is held all the while');
    await refundInDashboard(server, intentId, 6500);
    const told = (await noticesOf(server, uuid)).join('\n');
    assert.match(told, /The membership paid for by \S+ has ended/);
    assert.equal(/HubSpot cannot be told .* An upgrade that a link has sold/.test(told), isErased, told);
  }
});

test('when the money of an erased join goes back, nobody is written to, and nothing waits to be told to HubSpot', async () => {
  for (const isErased of [false, true]) {
    const { uuid, intentId } = await newMember(server);
    await deliver(server);
    if (isErased)
      await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(server.deps.database);
    await refundInDashboard(server, intentId, 6500);
    const { rows } = await sql`
      select exists (select from letter where session_uuid = uuid and kind = 'refund') as "isWritten",
        exists (select from crm_delivery where due_at is not null and refusal is null) as "isDue"
      from join_session where uuid = ${uuid}`.execute(server.deps.database);
    assert.deepEqual(rows, [{ isWritten: !isErased, isDue: !isErased }]);
  }
});
