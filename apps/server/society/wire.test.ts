import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSociety } from './readSociety.ts';
import { toSite } from './wire.ts';

test('no page is told of a retired programme', () => {
  const society = readSociety(join(import.meta.dirname, '../../../society/society.yaml'));
  society.openProgrammes = ['high-school'];
  const { programmes } = toSite(society, {
    payments: { publishableKey: 'pk_test', scriptUrl: null },
    uploadMaxBytes: null,
    sendsLetters: true,
    apiUrl: '',
  });
  assert.deepEqual(Object.keys(programmes), ['high-school']);
});

test('every page is told the name, price and refund of each programme as its own', () => {
  const society = readSociety(join(import.meta.dirname, '../../../society/society.yaml'));
  const { 'high-school': school, undergraduate } = society.programmes;
  school!.refund = undergraduate!.refund = '{product}: all but {fee}.';
  school!.eligibility.intro = undergraduate!.eligibility.intro = 'For {product}.';
  // The default membership of a programme need not be its cheapest.
  school!.defaultMembership = 2;
  const { programmes } = toSite(society, {
    payments: { publishableKey: 'pk_test', scriptUrl: null },
    uploadMaxBytes: null,
    sendsLetters: true,
    apiUrl: '',
  });
  assert.deepEqual(
    Object.entries(programmes).map(([key, { membershipFrom, refund, eligibility }]) => [
      key,
      membershipFrom,
      refund,
      eligibility.intro,
    ]),
    [
      ['high-school', '$65', 'Honor Scholars: all but $0.', 'For Honor Scholars.'],
      ['undergraduate', '$95', 'Honor Collegians: all but $5.', 'For Honor Collegians.'],
    ],
  );
});
