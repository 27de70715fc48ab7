import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postcodeQuestion, tidyPostcode } from './postcode.ts';

const US = 'United States';

for (const [given, country, state, written] of [
  ['78701', US, 'Texas', '78701'],
  ['787 01', US, 'Texas', '78701'],
  ['78701 1234', US, 'Texas', '78701-1234'],
  ['787011234', US, 'Texas', '78701-1234'],
  ['78701\u20131234', US, 'Texas', '78701-1234'],
  ['78701\u22121234', US, 'Texas', '78701-1234'],
  ['78701-', US, 'Texas', '78701'],
  ['787O1', US, 'Texas', '78701'],
  ['l0001', US, 'New York', '10001'],
  ['７８７０１', US, 'Texas', '78701'],
  ['78,701', US, 'Texas', '78701'],
  ['78701.0', US, 'Texas', '78701'],
  // A spreadsheet removed the zeros.
  ['2139', US, 'Massachusetts', '02139'],
  ['2139', US, '', '02139'],
  ['2139.0', US, 'Massachusetts', '02139'],
  ["'02139", US, 'Massachusetts', '02139'],
  ['2,139', US, 'Massachusetts', '02139'],
  ['2139-1234', US, 'Massachusetts', '02139-1234'],
  ['2139 \u2013 1234', US, 'Massachusetts', '02139-1234'],
  ['21391234', US, 'Massachusetts', '02139-1234'],
  ['021391234', US, 'Massachusetts', '02139-1234'],
  ['02139 1234', US, 'Massachusetts', '02139-1234'],
  ['O2139', US, 'Massachusetts', '02139'],
  ['2I39', US, 'Massachusetts', '02139'],
  ['7030', US, 'New Jersey', '07030'],
  ['6511', US, 'Connecticut', '06511'],
  ['501', US, 'New York', '00501'],
  ['901', US, 'Puerto Rico', '00901'],
  ['802', US, 'Virgin Islands', '00802'],
  ['9012', US, 'Armed Forces Europe, Canada, Africa and Middle East', '09012'],
  ['k1a0b6', 'Canada', 'Ontario', 'K1A 0B6'],
  ['K1A-0B6', 'Canada', '', 'K1A 0B6'],
  ['KlA OB6', 'Canada', 'Ontario', 'K1A 0B6'],
  ['H2X1Y4', 'Canada', 'Quebec', 'H2X 1Y4'],
  ['h2x 1y4', 'Canada', 'Quebec', 'H2X 1Y4'],
  ['K1A OB6', 'Canada', 'Ontario', 'K1A 0B6'],
  ['H2X lY4', 'Canada', 'Quebec', 'H2X 1Y4'],
  // Other countries have other rules.
  ['SW1A 1AA', 'United Kingdom', '', 'SW1A 1AA'],
  ['123 45', 'Sweden', '', '123 45'],
  ['2139', 'Switzerland', '', '2139'],
] as const)
  test(`the postcode ${given} of ${state || 'no state'}, ${country}, is kept as ${written}`, () => {
    const place = { country, state };
    assert.equal(tidyPostcode(given, place), written);
    assert.equal(tidyPostcode(written, place), written);
    assert.equal(postcodeQuestion(given, place), null);
  });

for (const [given, country, state] of [
  ['2139', US, 'Texas'],
  ['2139', US, 'New York'],
  ['7870', US, 'Texas'],
  ['787', US, 'Texas'],
  ['787011', US, 'Texas'],
  ['none', US, 'Texas'],
  ['SW1A 1AA', US, ''],
  ['H2X 1Y', 'Canada', 'Quebec'],
  ['78701', 'Canada', 'Ontario'],
  ['H2X 1Y4', 'Canada', 'Ontario'],
] as const)
  test(`the postcode ${given} of ${state || 'no state'}, ${country}, stays and is questioned`, () => {
    assert.equal(tidyPostcode(given, { country, state }), given);
    assert.match(postcodeQuestion(given, { country, state })!, /^Is this right\?/);
  });
