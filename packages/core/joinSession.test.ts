import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALREADY_PAID,
  DETAILS_FIRST,
  joinSessionStates,
  MEMBERSHIP_FIRST,
  PAYMENT_FIRST,
  PAYMENT_UNDER_WAY,
  refusal,
  type SessionAction,
  type Standing,
  screenToGoOn,
  sessionActions,
  statesAllowing,
} from './joinSession.ts';

/**
 * For each action, the sentence that refuses the action in each state; null if the state allows it. The states are in the order
 * started, detailed, ordering, paying, paid.
 */
const table: Record<SessionAction, (string | null)[]> = {
  readContact: [null, null, null, null, ALREADY_PAID],
  submitDetails: [null, null, null, PAYMENT_UNDER_WAY, ALREADY_PAID],
  readMemberships: [DETAILS_FIRST, null, null, null, ALREADY_PAID],
  setMembership: [DETAILS_FIRST, null, null, PAYMENT_UNDER_WAY, ALREADY_PAID],
  readCheckout: [DETAILS_FIRST, MEMBERSHIP_FIRST, null, null, ALREADY_PAID],
  changeOrder: [DETAILS_FIRST, MEMBERSHIP_FIRST, null, PAYMENT_UNDER_WAY, ALREADY_PAID],
  createPaymentIntent: [DETAILS_FIRST, MEMBERSHIP_FIRST, null, null, ALREADY_PAID],
  beginPayment: [DETAILS_FIRST, MEMBERSHIP_FIRST, null, null, ALREADY_PAID],
  releasePayment: [DETAILS_FIRST, MEMBERSHIP_FIRST, null, null, ALREADY_PAID],
  confirmPayment: [DETAILS_FIRST, MEMBERSHIP_FIRST, null, null, null],
  readUpgrade: [PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, null],
  upgrade: [PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, null],
  skipUpgrade: [PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, null],
  uploadTranscript: [PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, PAYMENT_FIRST, null],
};
for (const [action, answers] of Object.entries(table))
  joinSessionStates.forEach((state, index) => {
    test(`${action} in a session that is ${state} ${answers[index] === null ? 'is allowed' : `says: ${answers[index]}`}`, () => {
      assert.equal(refusal(action as SessionAction, state), answers[index]);
    });
  });

test('the states that a statement compares with are those in which nothing stands in the way', () => {
  assert.deepEqual(new Set(sessionActions), new Set(Object.keys(table)));
  for (const action of sessionActions)
    assert.deepEqual(
      statesAllowing(action),
      joinSessionStates.filter((state) => refusal(action, state) === null),
    );
});

const standing = (change: Partial<Standing>): Standing => ({
  state: 'paid',
  paymentIntent: 'pi_1',
  upgradeOpen: false,
  owesTranscript: false,
  ...change,
});
const goesOn: [Partial<Standing>, string][] = [
  [{ state: 'started' }, '/registration/student-details'],
  [{ state: 'detailed' }, '/registration/membership'],
  [{ state: 'ordering' }, '/registration/checkout'],
  [{ state: 'paying' }, '/registration/checkout'],
  [{ upgradeOpen: true }, '/registration/upgrade?payment_intent=pi_1'],
  [{ upgradeOpen: true, owesTranscript: true }, '/registration/upgrade?payment_intent=pi_1'],
  [{ owesTranscript: true }, '/registration/upload-transcript'],
  [{}, '/registration/congratulations'],
];
for (const [change, screen] of goesOn)
  test(`a session with ${JSON.stringify(change)} goes on at ${screen}`, () => {
    assert.equal(screenToGoOn(standing(change)), screen);
  });
