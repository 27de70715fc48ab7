import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Site } from '#contract/schemas.ts';
import { BANK_DECIDES, OUTCOME_UNKNOWN } from '#core/sentences.ts';
import { draft, forgetSession, paymentReturn, storeSession } from '../../lib/session.ts';
import { setSite } from '../../lib/site.ts';
import { awaitPayment } from './awaitPayment.ts';

const SEARCH = '?payment_intent=pi_1&payment_intent_client_secret=secret&redirect_status=succeeded';

/**
 * Simulates a return from the card provider while the server answers like this. Returns the path of a redirect, or the outcome.
 */
async function returning(t: TestContext, answer: () => Response, search = SEARCH) {
  t.mock.method(console, 'error', () => {});
  t.mock.method(globalThis, 'fetch', async () => answer());
  let address = search;
  const history = { state: null, replaceState: (_: unknown, __: string, path: string) => (address = path) };
  Object.assign(globalThis, {
    window: { location: { search, pathname: '/registration/post-payment' }, history },
    document: new EventTarget(),
  });
  setSite({ apiUrl: '' } as Site);
  storeSession('u');
  t.after(forgetSession);
  const waits: boolean[] = [];
  const request = new Request(`http://localhost/registration/post-payment${search}`);
  const outcome = await awaitPayment(request, (isSlow) => waits.push(isSlow)).catch((thrown) => thrown);
  return { outcome: outcome instanceof Response ? outcome.headers.get('location') : outcome, waits, address };
}
const answered = (data: object) => () => Response.json({ success: true, status: 'success', data });

test('a payment that succeeded leads to the upgrade, and leaves neither the secret nor what was typed', async (t) => {
  draft.keep({} as never);
  const { outcome, address } = await returning(t, answered({ status: 'succeeded' }));
  assert.equal(outcome, '/registration/upgrade?payment_intent=pi_1');
  assert.equal(address, '/registration/post-payment');
  assert.deepEqual([paymentReturn.recall(), draft.recall()], [null, null]);
});

test('an answer without a status says that the payment has succeeded', async (t) => {
  assert.match((await returning(t, answered({}))).outcome, /upgrade/);
});

test('a payment about which the bank decides is asked for a minute and a half, and then said to be undecided', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const ticking = setInterval(() => t.mock.timers.tick(20_000), 2);
  t.after(() => clearInterval(ticking));
  const { outcome, waits } = await returning(t, answered({ status: 'processing' }));
  assert.deepEqual(outcome, { unknown: { message: BANK_DECIDES, retryMs: 0 } });
  assert.deepEqual(waits, [false, false, false, ...Array(7).fill(true)]);
  assert.equal(paymentReturn.recall()?.paymentIntent, 'pi_1', 'it can be asked again, also after a reload');
});

test('a refunded payment is shown again after a reload, one that was not completed is not', async (t) => {
  const refunded = { status: 'refunded', refunded: { kind: 'join' } };
  assert.deepEqual((await returning(t, answered(refunded))).outcome, { settled: refunded });
  assert.notEqual(paymentReturn.recall(), null);
  const canceled = { status: 'canceled' };
  assert.deepEqual((await returning(t, answered(canceled))).outcome, { settled: canceled });
  assert.equal(paymentReturn.recall(), null);
});

test('without an answer the outcome is unknown, and asked for again only where that can help', async (t) => {
  for (const [status, retryMs] of [
    [500, 0],
    [400, null],
  ] as const) {
    const { outcome } = await returning(t, () => Response.json({ message: 'No.' }, { status }));
    assert.deepEqual(outcome, { unknown: { message: OUTCOME_UNKNOWN, retryMs } });
    paymentReturn.drop();
  }
  const { outcome } = await returning(t, answered({}), '?payment_intent=pi_1');
  assert.deepEqual(outcome, { unknown: { message: OUTCOME_UNKNOWN } });
});
