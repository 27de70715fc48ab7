import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { StudentDetails } from '#core/studentDetails.ts';
import { atStripe, differencesOf, standingsOf } from './refunds.ts';
import { runCommand } from './runCommand.ts';
import { openIntent, orderingJoin } from './steps.ts';
import type { TestServer } from './testServer.ts';

/** Returns helpers for tests of a server whose database was restored from a backup. */
export function restored(server: TestServer) {
  const settleMissing = async (t: TestContext) => {
    const { code, out } = await runCommand(t, server, 'settle', ['--missing']);
    assert.equal(code, 0, out);
  };
  /** Makes a join with an open order and an intent. */
  async function openJoin(code: string, person: Partial<StudentDetails> = {}) {
    const client = server.client();
    const uuid = await orderingJoin(client, code, person);
    return { client, uuid, ...(await openIntent(client, uuid)) };
  }
  /**
   * Returns these payments and their refunds in our tables, the refunds at Stripe, the standings of the memberships that the
   * joins bought, and the kinds of difference that `reconcile` finds.
   */
  const bookOf = async (joins: readonly string[], intents: readonly string[]) => ({
    standings: await Promise.all(joins.map((uuid) => standingsOf(server, uuid))),
    payments: await server.deps.database
      .selectFrom('payment')
      .select(['intent_id', 'status', 'amount_cents', 'refunded_cents'])
      .where('intent_id', 'in', intents)
      .orderBy('intent_id')
      .execute(),
    refunds: await server.deps.database
      .selectFrom('refund')
      .select(['uuid', 'status', 'amount_cents'])
      .where('intent_id', 'in', intents)
      .orderBy('uuid')
      .execute(),
    atStripe: await Promise.all(intents.map((id) => atStripe(server, id))),
    differences: (await differencesOf(server, ...joins, ...intents)).map(({ kind }) => kind),
  });
  return { settleMissing, openJoin, bookOf };
}
