import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Site } from '#contract/schemas.ts';
import { PAYMENT_UNDER_WAY } from '#core/joinSession.ts';
import { OUTCOME_UNKNOWN } from '#core/sentences.ts';
import { setSite } from '../../lib/site.ts';
import { setToaster } from '../../lib/toasts.ts';
import { afterEvent, initialPayment, type Payment, type PaymentEvent, type Wanted } from './payment.ts';
import { type CardForm, workOf } from './paymentWork.ts';

const wanted: Wanted = {
  uuid: 'u',
  revision: 1,
  agreeToPolicies: true,
  hasGuardianConsent: false,
  isForAnother: false,
};
const pressed: PaymentEvent = { type: 'pressed', wanted };
const loaded = (version: number, clientSecret = 'secret'): PaymentEvent => ({
  type: 'intentLoaded',
  clientSecret,
  version,
});
const after = (now: Payment, ...events: PaymentEvent[]) => events.reduce(afterEvent, now);
const mounted = after(initialPayment, loaded(1), { type: 'formMounted' });
const begun = (now: Payment): PaymentEvent[] => [
  { type: 'checked', attempt: now.attempt + 1, fault: null },
  { type: 'begun', attempt: now.attempt + 1, refusal: null },
];
/** A payment that the card provider takes, and about which it may ask the joiner. */
const confirming = after(mounted, pressed, ...begun(mounted));
const { attempt } = confirming;
const refused = (sentence: string, isOver: boolean): PaymentEvent => ({
  type: 'refused',
  attempt,
  sentence,
  isOver,
});
const released = (state: string | null, goOn: string | null = null): PaymentEvent => ({
  type: 'released',
  attempt,
  state,
  goOn,
});

test('a payment is checked, begun and confirmed, and then the browser leaves', () => {
  assert.equal(after(mounted, pressed).stage, 'checking');
  assert.equal(confirming.stage, 'confirming');
  assert.deepEqual(confirming.wanted, wanted);
});

test('Buy Now that is pressed again while a payment is made changes nothing, at any stage', () => {
  const stages = [after(mounted, pressed), after(mounted, pressed, begun(mounted)[0]!), confirming];
  const releasing = after(confirming, refused('No.', true));
  for (const now of [...stages, releasing, after(releasing, released('paid', '/on'))])
    assert.equal(after(now, pressed), now, now.stage);
});

test('what the card form misses is said, and the server is not asked', () => {
  const now = after(mounted, pressed, { type: 'checked', attempt, fault: 'Your card number is incomplete.' });
  assert.deepEqual([now.stage, now.answer?.text], ['ready', 'Your card number is incomplete.']);
});

test('without a session, or before every checkbox is ticked, nothing begins', () => {
  const now = after(mounted, { type: 'pressed', wanted: null });
  assert.deepEqual([now.stage, now.answer?.text], ['ready', 'No active join session.']);
  assert.equal(after(now, { type: 'pressedTooSoon' }).answer, null);
});

test('a refused card is told when the server has said that nothing was charged, and the next press pays', () => {
  const now = after(confirming, refused('Your card was declined.', true), released('ordering'));
  assert.deepEqual([now.stage, now.answer?.text, now.mayBePaid], ['ready', 'Your card was declined.', false]);
  assert.equal(after(now, pressed, ...begun(now)).stage, 'confirming');
});

test('a payment that was made, though the provider’s answer was lost, leads on', () => {
  const now = after(confirming, refused('Payment failed.', false), released('paid', '/upgrade'));
  assert.deepEqual([now.stage, now.goOn, now.answer], ['leaving', '/upgrade', null]);
});

test('a payment about which the bank decides is said to be under way, and not to have failed', () => {
  const now = after(confirming, refused('Authentication failed.', true), released('paying'));
  assert.deepEqual([now.answer?.text, now.mayBePaid], [PAYMENT_UNDER_WAY, true]);
});

test('while nobody has said how a payment ended, no press says that it failed, until the server answers', () => {
  const lost = after(confirming, refused('Payment failed.', false), released(null));
  assert.equal(lost.answer?.text, OUTCOME_UNKNOWN);
  const next = lost.attempt + 1;
  const unsent = { kind: 'error', text: 'Payment failed.', isOld: false } as const;
  const again = after(
    lost,
    pressed,
    { type: 'checked', attempt: next, fault: null },
    { type: 'begun', attempt: next, refusal: unsent },
  );
  assert.deepEqual([again.stage, again.answer?.text], ['ready', OUTCOME_UNKNOWN]);
  assert.equal(after(confirming, refused('Declined.', true), released(null)).answer?.text, 'Declined.');
});

for (const { kind, isOld, stage } of [
  { kind: 'changed', isOld: false, stage: 'reloading' },
  { kind: 'error', isOld: true, stage: 'reloading' },
  { kind: 'error', isOld: false, stage: 'ready' },
  { kind: 'question', isOld: false, stage: 'ready' },
] as const)
  test(`a server that does not begin the payment (${kind}${isOld ? ', the page is old' : ''}) leads to ${stage}`, () => {
    const refusal = { kind, isOld, text: 'The total is now $77.00.' };
    const now = after(mounted, pressed, begun(mounted)[0]!, { type: 'begun', attempt, refusal });
    assert.deepEqual([now.stage, now.answer], [stage, { kind, text: refusal.text }]);
    assert.equal(after(now, { type: 'reloaded', attempt }).stage, 'ready');
  });

test('after a change of the price nothing can be paid until the card form has the newest total', () => {
  const changed = after(mounted, loaded(2), loaded(3));
  assert.equal(after(changed, pressed), changed);
  const early = after(changed, { type: 'totalUpdated', version: 2, isFailed: false });
  assert.equal(early.total, 'updating', 'that was not the newest total');
  const failed = after(early, { type: 'totalUpdated', version: 3, isFailed: true });
  assert.deepEqual([failed.total, after(failed, pressed)], ['failed', failed]);
  const shown = after(
    failed,
    { type: 'updatePressed' },
    { type: 'totalUpdated', version: 3, isFailed: false },
  );
  assert.equal(after(shown, pressed).stage, 'checking');
  assert.equal(after(mounted, loaded(1)), mounted, 'the same order was loaded again');
});

test('a price that changes while the bank asks is updated, and the answer of the bank still counts', () => {
  const now = after(confirming, loaded(2), refused('Authentication failed.', true), released('ordering'));
  assert.deepEqual([now.stage, now.total, now.answer?.text], ['ready', 'updating', 'Authentication failed.']);
});

test('a page that Back brings up from the bank can pay again, and is not disturbed by a late answer', () => {
  const restored = after(confirming, { type: 'restored' });
  assert.equal(restored.stage, 'ready');
  const again = after(restored, pressed, ...begun(restored));
  assert.equal(again.stage, 'confirming');
  assert.equal(after(again, refused('Authentication failed.', true)), again);
});

test('another intent begins anew, with an empty card form: what was asked for the last one is ignored', () => {
  const replaced = after(confirming, loaded(4, 'other'));
  assert.deepEqual([replaced.stage, replaced.total, replaced.answer], ['ready', 'shown', null]);
  const again = after(replaced, pressed, ...begun(replaced));
  for (const now of [replaced, again]) assert.equal(after(now, refused('Too late.', true)), now, now.stage);
  assert.equal(again.stage, 'confirming');
});

/** Does the work of a stage while the server answers like this. Returns the event. */
function working(t: TestContext, now: Payment, answer: () => Response, form: object = {}) {
  setSite({ apiUrl: '' } as Site);
  setToaster(async () => ({ showToast: async () => {} }));
  Object.assign(globalThis, { window: { location: { origin: '' } } });
  const { mock } = t.mock.method(globalThis, 'fetch', async () => answer());
  const ways = { reload: async () => {}, goTo: () => {} };
  return workOf(now, { elements: {}, stripe: form } as unknown as CardForm, ways).finally(() =>
    mock.restore(),
  );
}
const failure = (status: number, more: object = {}) =>
  Response.json({ success: false, status: 'error', code: 'conflict', message: 'No.', ...more }, { status });

test('the server’s answer to the beginning of a payment is read by its code', async (t) => {
  const beginning = after(mounted, pressed, begun(mounted)[0]!);
  for (const [answer, refusal] of [
    [Response.json({ success: true, status: 'success', data: {} }), null],
    [Response.json({}, { status: 404 }), null],
    [failure(409), { kind: 'changed', text: 'No.', isOld: false }],
    [failure(409, { code: 'perhaps_paid' }), { kind: 'question', text: 'No.', isOld: false }],
    [
      failure(400, { errors: { hasGuardianConsent: 'Please.' } }),
      { kind: 'error', text: 'No.', isOld: true },
    ],
    [failure(500), { kind: 'error', text: 'No.', isOld: false }],
  ] as const)
    assert.deepEqual(await working(t, beginning, () => answer), { type: 'begun', attempt, refusal });
});

test('only an error of card or input says that nothing was charged; without an answer the server’s state is unknown', async (t) => {
  const confirmed = (type: string) => ({ confirmPayment: async () => ({ error: { type, message: 'No.' } }) });
  const ending = (form: object) => working(t, confirming, () => failure(500), form);
  assert.deepEqual(await ending(confirmed('card_error')), refused('No.', true));
  assert.deepEqual(await ending(confirmed('api_error')), refused('No.', false));
  t.mock.method(console, 'error', () => {});
  assert.deepEqual(await ending({}), refused('Payment failed.', false));
  const releasing = after(confirming, refused('No.', false));
  assert.deepEqual(await working(t, releasing, () => failure(500)), released(null));
});

test('a card form that cannot check what was typed gives Buy Now back', async (t) => {
  t.mock.method(console, 'error', () => {});
  const checked = await working(t, after(mounted, pressed), () => failure(500));
  assert.deepEqual(checked, { type: 'checked', attempt, fault: 'Payment failed.' });
});
