import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { membershipsOf } from '../../../tests/harness/rows.ts';
import { paidJoin, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { readLetter } from '../letters/takeLetter.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import { settlePayment } from './settle.ts';

const server = await sharedServer();

/** Settles a payment while Stripe does not know it, as with the keys of another account. */
async function settleUnknown(t: TestContext, intentId: string): Promise<void> {
  const asked = t.mock.method(server.deps.payments, 'retrieveIntent', async () => {
    throw new NotAtStripe('No such payment_intent', { cause: null });
  });
  await settlePayment(server.deps, intentId);
  asked.mock.restore();
}

test('a join that is paid anew, since Stripe did not know its first payment, has letters with its new number', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  await settleUnknown(t, intentId);
  const anew = await payOrder(server, client, uuid);
  const [, held] = await membershipsOf(server, uuid);
  const { id } = await server.deps.database
    .selectFrom('letter')
    .select('id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'confirmation')
    .where('occasion', '=', anew.intentId)
    .executeTakeFirstOrThrow();
  assert.equal((await readLetter(server.deps, id))?.memberNumber, held!.member_number);
});
