import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Site } from '#contract/schemas.ts';
import { PAYMENT_UNDER_WAY } from '#core/joinSession.ts';
import { OUTCOME_UNKNOWN } from '#core/sentences.ts';
import { setSite } from '../../lib/site.ts';
import { setToaster } from '../../lib/toasts.ts';
import {
  afterEvent,
  initialPayment,
  type Payment,
  type PaymentEvent,
  PRESS_AGAIN,
  SHEET_OUTDATED,
  type Wanted,
} from './payment.ts';
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
/** A payment that the card provider is taking, possibly while it authenticates the joiner. */
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

const walletPressed: PaymentEvent = { type: 'walletPressed', wanted };
const agreed: PaymentEvent = { type: 'sheetAgreed', fault: null };
/** The wallet's sheet is open. */
const open = after(mounted, walletPressed);

test('a wallet pays what its sheet shows, and not what has come since', () => {
  assert.deepEqual([open.stage, open.sheet], ['ready', wanted]);
  const paying = after(open, agreed);
  assert.deepEqual([paying.stage, paying.form, paying.wanted], ['checking', 'wallet', wanted]);
  assert.equal(after(paying, ...begun(open)).stage, 'confirming');
  for (const change of [loaded(2), loaded(2, 'other')]) {
    const now = after(open, change, agreed);
    assert.deepEqual([now.stage, now.answer?.text], ['ready', SHEET_OUTDATED]);
  }
});

test('a sheet that is closed pays nothing, and changes nothing else', () => {
  const told = after(mounted, pressed, { type: 'checked', attempt, fault: 'Incomplete.' });
  assert.deepEqual(after(told, walletPressed, { type: 'sheetClosed' }), {
    ...told,
    form: 'wallet',
    answer: null,
  });
  assert.equal(after(told, { type: 'sheetClosed' }), told);
  assert.equal(after(open, { type: 'sheetClosed' }, agreed).stage, 'ready');
  // In some browsers a sheet can be closed after the joiner has agreed to pay.
  const paying = after(open, agreed, { type: 'sheetClosed' }, ...begun(open));
  assert.deepEqual([paying.stage, paying.form], ['confirming', 'wallet']);
});

test('a wallet’s button opens no sheet while the total is not known, without a session, or while a payment is made', () => {
  const updating = after(mounted, loaded(2));
  assert.equal(after(updating, walletPressed), updating);
  const without = after(mounted, { type: 'walletPressed', wanted: null });
  assert.deepEqual([without.sheet, without.answer?.text], [null, 'No active join session.']);
  const byCard = after(mounted, pressed);
  for (const now of [byCard, confirming, after(confirming, refused('No.', true))])
    assert.equal(after(now, walletPressed), now, now.stage);
});

test('Buy Now takes over from an open sheet, and only one of the two pays', () => {
  const byCard = after(open, pressed);
  assert.deepEqual([byCard.stage, byCard.form, byCard.sheet], ['checking', 'card', null]);
  assert.equal(after(byCard, agreed), byCard);
  const failed = after(byCard, { type: 'checked', attempt: byCard.attempt, fault: 'Incomplete.' }, agreed);
  assert.deepEqual([failed.stage, failed.answer?.text], ['ready', SHEET_OUTDATED]);
  const byWallet = after(open, agreed);
  for (const event of [pressed, agreed, walletPressed]) assert.equal(after(byWallet, event), byWallet);
});

test('an address that cannot pay is told, and the same sheet pays once it is another', () => {
  const refusedSheet = after(open, { type: 'sheetAgreed', fault: 'Not from there.' });
  assert.deepEqual([refusedSheet.stage, refusedSheet.answer?.text], ['ready', 'Not from there.']);
  assert.equal(after(refusedSheet, agreed).stage, 'checking');
});

test('a wallet that is declined can pay with another card in the same sheet', () => {
  const paying = after(open, agreed, ...begun(open));
  const declined = after(paying, refused('Declined.', true), released('ordering'));
  assert.deepEqual([declined.stage, declined.form, declined.answer?.text], ['ready', 'wallet', 'Declined.']);
  assert.equal(after(declined, agreed).attempt, declined.attempt + 1);
});

test('the question about a payment by the wallet is answered with yes by pressing its button again', () => {
  const refusal = { kind: 'question', text: 'Paid already?', isOld: false } as const;
  const asked = after(open, agreed, begun(open)[0]!, { type: 'begun', attempt, refusal });
  const said = after(asked, { type: 'saidForAnother' });
  assert.deepEqual([said.isForAnother, said.answer?.text, said.stage], [true, PRESS_AGAIN, 'ready']);
  assert.equal(after(said, agreed).answer?.text, SHEET_OUTDATED, 'the old sheet pays for oneself');
});

test('a sheet does not pay with a consent that was withdrawn since it opened', () => {
  const now = after(open, { type: 'consentsChanged' }, agreed);
  assert.deepEqual([now.stage, now.answer?.text], ['ready', SHEET_OUTDATED]);
  assert.equal(after(mounted, { type: 'consentsChanged' }), mounted);
});

test('a sheet that is out of date does not say that nothing was charged while the card’s payment may have been', () => {
  const unknown = after(confirming, refused('No.', false), released(null));
  assert.deepEqual([unknown.mayBePaid, after(unknown, agreed).answer?.text], [true, OUTCOME_UNKNOWN]);
});

test('a page that Back brings up has no sheet any more', () => {
  const now = after(open, { type: 'restored' }, agreed);
  assert.equal(now.answer?.text, SHEET_OUTDATED);
});

/** Does the work of a stage while the server gives this answer, or (null) no answer. Returns the resulting event. */
function working(t: TestContext, now: Payment, answer: () => Response | null, form: object = {}) {
  setSite({ apiUrl: '' } as Site);
  setToaster(async () => ({ showToast: async () => {} }));
  Object.assign(globalThis, { document: new EventTarget(), window: { location: { origin: '' } } });
  const { mock } = t.mock.method(globalThis, 'fetch', async () => {
    const given = answer();
    if (!given) throw new TypeError('fetch failed');
    return given;
  });
  const ways = { reload: async () => {}, goTo: () => {} };
  const forms = {
    card: null,
    wallet: null,
    [now.form]: { elements: {}, stripe: form } as unknown as CardForm,
  };
  return workOf(now, forms, ways).finally(() => mock.restore());
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
    // A failure of our server, not of a server that does not have the call.
    [failure(404, { code: 'not_found' }), { kind: 'error', text: 'No.', isOld: false }],
    [Response.json({ success: false }), { kind: 'error', text: 'Payment failed.', isOld: false }],
    [null, { kind: 'error', text: 'Payment failed.', isOld: false }],
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

test('when the provider never answers, the server is asked once it says that the order is paid', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked: string[] = [];
  const states = ['paying', 'paid'];
  const answer = () => {
    asked.push(states[0]!);
    return Response.json({ success: true, status: 'success', data: { state: states.shift() } });
  };
  const confirmed = working(t, confirming, answer, { confirmPayment: () => new Promise(() => {}) });
  const ticking = setInterval(() => t.mock.timers.tick(5000), 1);
  t.after(() => clearInterval(ticking));
  assert.deepEqual(await confirmed, refused('Payment failed.', false));
  assert.deepEqual(asked, ['paying', 'paid']);
});

test('a card form that cannot check what was typed gives Buy Now back', async (t) => {
  t.mock.method(console, 'error', () => {});
  const checked = await working(t, after(mounted, pressed), () => failure(500));
  assert.deepEqual(checked, { type: 'checked', attempt, fault: 'Payment failed.' });
});
