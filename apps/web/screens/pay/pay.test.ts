import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Stripe, StripeElements } from '@stripe/stripe-js';
import type { Site } from '#contract/schemas.ts';
import { PAYER_OUTCOME_UNKNOWN } from '#core/payLink.ts';
import { NO_ANSWER } from '#core/sentences.ts';
import { payReturn, payTry } from '../../lib/session.ts';
import { setSite } from '../../lib/site.ts';
import { type Ended, pay, settle } from './pay.ts';

const SECRET = 'pi_1_secret_2';
const returned = { paymentIntent: 'pi_1', paymentIntentClientSecret: SECRET, redirectStatus: '' };
const wanted = { token: 't', revision: 1, email: 'alex@example.com', hasGuardianConsent: false };
const receipt = { reference: 'pi_1', lines: [], total: 6500, email: 'alex@example.com', notes: [] };

/** The answer to each call of the payer's page, by the last part of the call's path. */
type Answer = (call: string) => object | 'lost' | 'offline';

/** Makes the server answer the payer's page like this. Returns the calls that the page has made. */
function answering(t: TestContext, answer: Answer): string[] {
  const calls: string[] = [];
  t.mock.method(globalThis, 'fetch', async (url: string, { signal }: RequestInit) => {
    const call = url.split('/').at(-1)!;
    calls.push(call);
    const given = answer(call);
    if (given === 'offline') throw new TypeError('offline');
    if (given !== 'lost') return Response.json({ success: true, status: 'success', data: given });
    return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
  });
  Object.assign(globalThis, {
    window: { location: { origin: 'http://localhost', pathname: '/pay/t' } },
    document: new EventTarget(),
  });
  setSite({ apiUrl: '' } as Site);
  t.after(() => {
    payReturn.drop();
    payTry.drop();
  });
  return calls;
}

/** Presses the button of the page. `confirm` is the card provider's answer. */
function press(confirm: () => Promise<object> = async () => ({})): Promise<Ended> {
  const elements = {
    submit: async () => ({}),
    getElement: () => ({ getValue: async () => ({ value: { name: 'Alex Rivera' } }) }),
  } as unknown as StripeElements;
  return pay(wanted, { stripe: { confirmPayment: confirm } as unknown as Stripe, elements });
}

/** Returns the outcome of a payment, if there is one within a minute. */
async function withinAMinute(t: TestContext, paying: () => Promise<Ended>): Promise<Ended | undefined> {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let ended: Ended | undefined;
  void paying().then((end) => {
    ended = end;
  });
  for (let second = 0; second < 60 && !ended; second++) {
    t.mock.timers.tick(1000);
    await new Promise(setImmediate);
  }
  return ended;
}

const settled = () => settle(returned, null);
const succeeded = { status: 'succeeded', receipt };

test('a payer without a connection is told to check it', async (t) => {
  answering(t, () => 'offline');
  assert.deepEqual(await press(), { is: 'failed', message: NO_ANSWER });
});

test('a payer whose card provider never answers is told once the order is paid', async (t) => {
  const answers: Record<string, object> = {
    'begin-payment': { clientSecret: SECRET, revision: 1, amount: 6500 },
    t: { status: 'paid' },
    'pay-outcome': succeeded,
  };
  answering(t, (call) => answers[call]!);
  const ended = await withinAMinute(t, () => press(() => new Promise(() => {})));
  assert.deepEqual(ended, { is: 'paid', receipt });
});

test('of a payment about which no answer comes, the payer is told within a minute, and can ask again', async (t) => {
  answering(t, () => 'lost');
  payReturn.keep(returned);
  const ended = await withinAMinute(t, settled);
  assert.deepEqual(ended, { is: 'unknown', message: PAYER_OUTCOME_UNKNOWN });
  assert.deepEqual(payReturn.recall(), returned);
});

test('a lost answer about a payment is asked for again', async (t) => {
  const answers = ['lost', succeeded] as const;
  let asked = 0;
  answering(t, () => answers[asked++]!);
  assert.deepEqual(await withinAMinute(t, settled), { is: 'paid', receipt });
});

test('whoever presses again while a payment is unsettled is told how it ended, and pays no other', async (t) => {
  const calls = answering(t, () => succeeded);
  payReturn.keep(returned);
  assert.deepEqual(await press(), { is: 'paid', receipt });
  assert.deepEqual(calls, ['pay-outcome']);
});
