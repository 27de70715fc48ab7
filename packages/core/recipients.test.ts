import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Addressed, joinerEmails, type KnownEmails, letterEmails, recipientsOf } from './recipients.ts';

const known: KnownEmails = {
  isPaid: true,
  ofPerson: 'corrected@example.com',
  typed: 'typed@example.com',
  personal: 'personal@example.com',
  contact: 'contact@example.com',
  receipts: ['payer@example.com'],
};
const letter: Addressed = { kind: 'confirmation', email: null, isByCheckoutLink: false, known };

test('a corrected email counts once the join is paid', () => {
  assert.equal(joinerEmails(known).find(Boolean), 'corrected@example.com');
  assert.equal(joinerEmails({ ...known, isPaid: false }).find(Boolean), 'typed@example.com');
});

test('letters go to who paid only if nothing is known of the joiner', () => {
  const unknown = { ...known, ofPerson: null, typed: null, personal: null };
  assert.equal(letterEmails(unknown).find(Boolean), 'contact@example.com');
  assert.deepEqual(letterEmails({ ...unknown, contact: null }).filter(Boolean), ['payer@example.com']);
  assert.deepEqual(recipientsOf(letter), letterEmails(known));
});

test('a letter with an address of its own goes nowhere else, and a reminder to who typed the details', () => {
  assert.deepEqual(recipientsOf({ ...letter, email: 'former@example.com' }), ['former@example.com']);
  assert.deepEqual(recipientsOf({ ...letter, kind: 'reminder-hour' }), ['typed@example.com']);
  assert.deepEqual(recipientsOf({ ...letter, known: null }), []);
});

test('a letter to a payer goes to nobody else once their email is erased', () => {
  assert.deepEqual(recipientsOf({ ...letter, kind: 'payer-receipt' }), []);
});

test('a code about a checkout link is never sent to who pays', () => {
  const code: Addressed = { ...letter, kind: 'code', isByCheckoutLink: true };
  assert.equal(recipientsOf(code).includes('payer@example.com'), false);
  assert.equal(recipientsOf({ ...code, isByCheckoutLink: false }).includes('payer@example.com'), true);
});
