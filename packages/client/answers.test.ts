import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallName } from '#contract/calls.ts';
import { toastOf } from './client.ts';
import { failureOf, NotOffered } from './failures.ts';
import { readAnswer } from './readAnswer.ts';

// Which answers count as successes, according to the fields in the specification's table, and how other answers are treated.

/** Returns the result of a call that gets this answer: its data, or the kind of the failure. */
function read(name: CallName, status: number, answer: unknown): unknown {
  try {
    return readAnswer(name, status, answer);
  } catch (error) {
    return error instanceof NotOffered ? 'not offered' : failureOf(error, '').kind;
  }
}

const started = { uuid: 'u', message: 'm' };
const successes: [CallName, unknown, unknown][] = [
  ['initiateJoin', { data: started }, started],
  ['initiateJoin', started, started],
  ['setMembership', { data: { status: 'success' } }, { status: 'success' }],
  ['initiateCheckout', { data: { joinSessionUuid: 'u' } }, { joinSessionUuid: 'u' }],
  ['postPayment', { data: {} }, {}],
  ['submitDetails', { success: true }, { success: true }],
  ['uploadTranscript', { success: true }, { success: true }],
  ['deleteSessionProduct', { status: 'success' }, { status: 'success' }],
  ['deleteSessionProduct', { success: true, data: { status: 'success' } }, { status: 'success' }],
  ['getUpgradeDetails', { isEligibleForUpgrade: false }, { isEligibleForUpgrade: false }],
  ['uploadResume', { data: { success: true } }, { success: true }],
];
for (const [name, answer, data] of successes)
  test(`${name} takes ${JSON.stringify(answer)} for a success`, () => {
    assert.deepEqual(read(name, 200, answer), data);
  });

const failures: [CallName, unknown][] = [
  ['initiateJoin', { success: false, data: started }],
  ['initiateJoin', { status: 'error', message: 'No.' }],
  ['initiateJoin', null],
  ['submitDetails', { data: {} }],
  ['submitDetails', { success: false }],
  ['uploadTranscript', {}],
  ['deleteSessionProduct', {}],
  ['deleteSessionProduct', { status: 'failed' }],
  ['deleteSessionProduct', { success: true, status: 'success', data: { status: 'failed' } }],
  ['beginPayment', { success: false }],
  ['beginPayment', null],
];
for (const [name, answer] of failures)
  test(`${name} takes ${JSON.stringify(answer)} for a failure`, () => {
    assert.equal(read(name, 200, answer), 'busy');
  });

const kinds: [CallName, number, unknown, string][] = [
  ['beginPayment', 404, null, 'not offered'],
  ['beginPayment', 404, {}, 'not offered'],
  ['beginPayment', 404, { success: false, message: 'Not found' }, 'not offered'],
  ['beginPayment', 404, { code: 'not_found' }, 'lost'],
  ['beginPayment', 400, {}, 'refused'],
  ['beginPayment', 403, null, 'refused'],
  ['beginPayment', 405, null, 'refused'],
  ['beginPayment', 410, {}, 'refused'],
  ['beginPayment', 501, {}, 'busy'],
  ['getCheckoutDetails', 404, null, 'lost'],
  ['initJoin', 404, {}, 'refused'],
  ['getUploadLink', 404, { code: 'not_found' }, 'refused'],
  ['getContact', 429, {}, 'busy'],
  ['getContact', 408, {}, 'busy'],
  ['getContact', 503, { message: 'Later.' }, 'busy'],
];
for (const [name, status, answer, kind] of kinds)
  test(`${name} takes ${status} with ${JSON.stringify(answer)} for ${kind}`, () => {
    assert.equal(read(name, status, answer), kind);
  });

test('a request without an answer is unsent', () => {
  assert.equal(failureOf(new TypeError('offline'), '').kind, 'unsent');
});

test('a call that is not offered, and a 503 with a sentence, which every screen shows, raise no toast', () => {
  for (const [status, answer, isShown] of [
    [404, {}, false],
    [503, { message: 'Later.' }, false],
    [404, { code: 'not_found' }, true],
    [503, {}, true],
    [500, {}, true],
  ] as const)
    try {
      readAnswer('beginPayment', status, answer);
    } catch (error) {
      assert.equal(toastOf(error, {}) !== null, isShown, `${status} ${JSON.stringify(answer)}`);
    }
});
