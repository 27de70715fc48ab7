import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noContact } from '#core/contact.ts';
import { findCountry } from '#reference/countries.ts';
import { emptyDetails, prefill, stateIn } from './prefill.ts';

const unitedStates = findCountry('US')!;
const canada = findCountry('CA')!;

const nobody = noContact;

test('a contact with nothing gives the empty form, in the United States', () => {
  assert.deepEqual(prefill(nobody, 2026, unitedStates), emptyDetails);
  assert.equal(emptyDetails.country, 'United States');
});

test('a state given by code is found by its name', () => {
  const details = prefill({ ...nobody, country: 'US', state: 'TX' }, 2026, unitedStates);
  assert.equal(details.country, 'United States');
  assert.equal(details.state, 'Texas');
});

test('a province given by name is found with or without its accents', () => {
  const given = prefill({ ...nobody, country: 'Canada', state: 'Quebec' }, 2026, canada);
  assert.equal(given.country, 'Canada');
  assert.equal(given.state, stateIn(canada, 'QC'));
  assert.notEqual(given.state, '');
});

test('a state that its country does not know is left to be chosen', () => {
  assert.equal(prefill({ ...nobody, country: 'US', state: 'Bavaria' }, 2026, unitedStates).state, '');
});

test('the personal email falls back to the email, the high school to the school', () => {
  const details = prefill({ ...nobody, email: 'a@b.co', schoolName: 'Lincoln High' }, 2026, unitedStates);
  assert.equal(details.personalEmail, 'a@b.co');
  assert.equal(details.highSchoolName, 'Lincoln High');
});

test('only choices on offer are prefilled', () => {
  const offered = prefill(
    { ...nobody, highSchoolGraduationYear: '2027', highSchoolGpa: '4' },
    2026,
    unitedStates,
  );
  assert.equal(offered.highSchoolGraduationYear, '2027');
  assert.equal(offered.highSchoolGpa, '4.0');
  const other = prefill(
    { ...nobody, highSchoolGraduationYear: '2019', highSchoolGpa: '3.85' },
    2026,
    unitedStates,
  );
  assert.equal(other.highSchoolGraduationYear, '');
  assert.equal(other.highSchoolGpa, '');
});

test('a state stays as it is where its country has none to choose from, or they could not be had', () => {
  const germany = { ...findCountry('DE')!, subdivisions: null };
  assert.equal(prefill({ ...nobody, country: 'DE', state: 'Bayern' }, 2026, germany).state, 'Bayern');
  assert.equal(stateIn({ name: 'Nowhere', code: 'XX', subdivisions: [] }, 'Here'), 'Here');
});
