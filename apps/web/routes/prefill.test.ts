import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Contact } from '#contract/schemas.ts';
import { countryRule, emptyDetails, prefill, stateIn } from './prefill.ts';

const nobody: Contact = {
  firstName: null,
  middleName: null,
  lastName: null,
  address: null,
  address2: null,
  city: null,
  state: null,
  zip: null,
  country: null,
  email: null,
  personalEmail: null,
  schoolEmail: null,
  schoolId: null,
  schoolName: null,
  acceptedPrivacyPolicy: false,
  highSchoolName: null,
  highSchoolGraduationYear: null,
  highSchoolGpa: null,
};

test('a contact with nothing gives the empty form, in the United States', () => {
  assert.deepEqual(prefill(nobody, 2026), emptyDetails);
  assert.equal(emptyDetails.country, 'United States');
});

test('a state given by code is found by its name', () => {
  const details = prefill({ ...nobody, country: 'US', state: 'TX' }, 2026);
  assert.equal(details.country, 'United States');
  assert.equal(details.state, 'Texas');
});

test('a province given by name is found with or without its accents', () => {
  const given = prefill({ ...nobody, country: 'Canada', state: 'Quebec' }, 2026);
  assert.equal(given.country, 'Canada');
  assert.equal(given.state, stateIn('Canada', 'QC'));
  assert.notEqual(given.state, '');
});

test('a state that its country does not know is left to be chosen', () => {
  assert.equal(prefill({ ...nobody, country: 'US', state: 'Bavaria' }, 2026).state, '');
});

test('the personal email falls back to the email, the high school to the school', () => {
  const details = prefill({ ...nobody, email: 'a@b.co', schoolName: 'Lincoln High' }, 2026);
  assert.equal(details.personalEmail, 'a@b.co');
  assert.equal(details.highSchoolName, 'Lincoln High');
});

test('only choices on offer are prefilled', () => {
  const offered = prefill({ ...nobody, highSchoolGraduationYear: '2027', highSchoolGpa: '4' }, 2026);
  assert.equal(offered.highSchoolGraduationYear, '2027');
  assert.equal(offered.highSchoolGpa, '4.0');
  const other = prefill({ ...nobody, highSchoolGraduationYear: '2019', highSchoolGpa: '3.85' }, 2026);
  assert.equal(other.highSchoolGraduationYear, '');
  assert.equal(other.highSchoolGpa, '');
});

test('a country is known to the rules by its full name only', () => {
  assert.deepEqual(countryRule('United States'), { hasSubdivisions: true });
  assert.equal(countryRule('US'), undefined);
});
