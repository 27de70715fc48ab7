import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noContact } from '#core/contact.ts';
import { findCountry } from '#reference/countries.ts';
import { emptyDetails, noPlace, prefill, stateIn, unreadFields } from './prefill.ts';

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

for (const [field, told, chosen] of [
  ['highSchoolGraduationYear', '2027', '2027'],
  ['highSchoolGraduationYear', '2019', ''],
  ['highSchoolGraduationYear', '2036', ''],
  ['highSchoolGraduationYear', '27', ''],
  ['highSchoolGraduationYear', 'Class of 2027', ''],
  ['highSchoolGpa', '4', '4.0'],
  ['highSchoolGpa', '3.80', '3.8'],
  ['highSchoolGpa', '3.85', ''],
  ['highSchoolGpa', '4.3', ''],
  ['highSchoolGpa', '3,8', ''],
  ['highSchoolGpa', 'A-', ''],
  ['highSchoolGpa', '0x3', ''],
  ['highSchoolGpa', '-1', ''],
] as const)
  test(`a contact's ${field} ${told} is prefilled as "${chosen}", and shown when it is not among the choices`, () => {
    const contact = { ...nobody, [field]: told };
    const details = prefill(contact, 2026, unitedStates);
    assert.equal(details[field], chosen);
    assert.deepEqual(unreadFields(contact, details), chosen === '' ? { [field]: told } : {});
  });

test('a country that the list does not have leaves the choice open, and the state with it', () => {
  const contact = { ...nobody, country: 'Atlantis', state: 'Bavaria', zip: '2139' };
  const details = prefill(contact, 2026, noPlace);
  assert.deepEqual([details.country, details.state, details.zipcode], ['', '', '2139']);
  assert.deepEqual(unreadFields(contact, details), { country: 'Atlantis', state: 'Bavaria' });
});

test('a ZIP code that was mended is shown with what the record says; one of another state stays', () => {
  const contact = { ...nobody, country: 'US', state: 'MA', zip: '2139-1234' };
  const details = prefill(contact, 2026, unitedStates);
  assert.equal(details.zipcode, '02139-1234');
  assert.deepEqual(unreadFields(contact, details), { zipcode: '2139-1234' });
  assert.equal(prefill({ ...contact, state: 'TX' }, 2026, unitedStates).zipcode, '2139-1234');
});

test('a state stays as it is where its country has none to choose from, or they could not be had', () => {
  const germany = { ...findCountry('DE')!, subdivisions: null };
  assert.equal(prefill({ ...nobody, country: 'DE', state: 'Bayern' }, 2026, germany).state, 'Bayern');
  assert.equal(stateIn({ name: 'Nowhere', code: 'XX', subdivisions: [] }, 'Here'), 'Here');
});
