import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inviteCodeError, normaliseInviteCode } from './inviteCode.ts';

const table: [string, string | null][] = [
  ['HONOR101', null],
  ['honor101', null],
  [' HONOR101 ', null],
  ['7', null],
  ['', 'Invite code is required.'],
  ['   ', 'Invite code is required.'],
  ['HONOR-101', 'Invite code must contain only letters and numbers.'],
  ['HONOR 101', 'Invite code must contain only letters and numbers.'],
  ['HONÖR', 'Invite code must contain only letters and numbers.'],
  ["'; drop table", 'Invite code must contain only letters and numbers.'],
  ['A'.repeat(64), null],
  ['A'.repeat(65), 'Invite code must be 64 characters or fewer.'],
  ['-'.repeat(65), 'Invite code must contain only letters and numbers.'],
];
for (const [typed, sentence] of table)
  test(`the code ${JSON.stringify(typed)} ${sentence === null ? 'may be sent' : `says: ${sentence}`}`, () => {
    assert.equal(inviteCodeError(typed), sentence);
  });

test('a code is stored and compared in one spelling', () => {
  assert.equal(normaliseInviteCode(' honor101 '), 'HONOR101');
});
