import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingOf } from './invitation.ts';

const invitation = { isWithdrawn: false, hasExpired: false, programme: null };

test('a code opens a join until it is withdrawn, expires, or its programme is given up', () => {
  const open = ['undergraduate'];
  assert.equal(openingOf(invitation, open), 'opens');
  assert.equal(openingOf({ ...invitation, programme: 'undergraduate' }, open), 'opens');
  assert.equal(openingOf({ ...invitation, programme: 'alumni' }, open), 'unknown');
  assert.equal(openingOf({ ...invitation, hasExpired: true }, open), 'expired');
  assert.equal(openingOf({ ...invitation, hasExpired: true, programme: 'alumni' }, open), 'expired');
  assert.equal(openingOf({ ...invitation, isWithdrawn: true, hasExpired: true }, open), 'unknown');
  assert.equal(openingOf(null, open), 'unknown');
});
