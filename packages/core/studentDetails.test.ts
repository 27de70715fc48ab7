import assert from 'node:assert/strict';
import { test } from 'node:test';
import { details as validDetails } from '../../tests/harness/steps.ts';
import {
  cleanDetails,
  gpaValues,
  graduationYears,
  type StudentDetailsField,
  type SubmittedDetails,
  studentDetailsErrors,
} from './studentDetails.ts';

const context = {
  currentYear: 2026,
  country: (name: string) =>
    ({
      'United States': { hasSubdivisions: true, subdivisions: ['Texas', 'Massachusetts'] },
      Germany: { hasSubdivisions: true, subdivisions: null },
      Atlantis: { hasSubdivisions: false, subdivisions: [] },
    })[name],
  asksGuardianConsent: false,
};

const details = (change: Partial<SubmittedDetails> = {}): SubmittedDetails => ({
  ...validDetails({ highSchoolGraduationYear: '2027' }),
  hasGuardianConsent: false,
  ...change,
});

/** Each sentence of the specification, section 5, with a field and a value that cause it. */
const sentences: [StudentDetailsField, string | boolean, string][] = [
  ['firstName', '', 'First name is required.'],
  ['firstName', '   ', 'First name is required.'],
  ['lastName', '', 'Last name is required.'],
  ['address1', '', 'Address Line 1 is required.'],
  ['city', '', 'City is required.'],
  ['zipcode', '', 'Zipcode is required.'],
  ['country', '', 'Country is required.'],
  ['country', 'Nowhere', 'Country is required.'],
  ['state', '', 'State/Province is required.'],
  ['state', 'Tejas', 'State/Province must be one of the chosen country.'],
  ['state', 'Ontario', 'State/Province must be one of the chosen country.'],
  ['personalEmail', '', 'Personal email is required.'],
  ['personalEmail', 'jordan', 'Invalid email address.'],
  ['personalEmail', 'jordan@example', 'Invalid email address.'],
  ['personalEmail', 'jor dan@example.com', 'Invalid email address.'],
  ['schoolEmail', 'nope', 'Invalid school email address.'],
  ['agreeToPolicies', false, 'You must agree to the policies.'],
  ['highSchoolName', '', 'High School Name is required.'],
  ['highSchoolGraduationYear', '', 'Graduation Year is required.'],
  ['highSchoolGraduationYear', '2025', 'Graduation Year is required.'],
  ['highSchoolGpa', '', 'High School GPA is required.'],
  ['highSchoolGpa', '4.1', 'High School GPA is required.'],
];
for (const [field, value, sentence] of sentences)
  test(`${field} = ${JSON.stringify(value).slice(0, 24)} says: ${sentence}`, () => {
    assert.deepEqual(studentDetailsErrors(cleanDetails(details({ [field]: value })), context), {
      [field]: sentence,
    });
  });

test('complete details break no rule, and middle name, second address line and school email are optional', () => {
  assert.deepEqual(studentDetailsErrors(details(), context), {});
});

test('the consent of a guardian is asked for only where the programme asks', () => {
  const asking = { ...context, asksGuardianConsent: true };
  assert.deepEqual(studentDetailsErrors(details(), asking), {
    hasGuardianConsent: 'Please confirm your age, or that your parent or guardian agrees.',
  });
  assert.deepEqual(studentDetailsErrors(details({ hasGuardianConsent: true }), asking), {});
  assert.deepEqual(studentDetailsErrors(details({ hasGuardianConsent: true }), context), {});
});

test('a state is not asked for, and any is taken, where the country has no subdivisions', () => {
  for (const state of ['', 'Poseidonis'])
    assert.deepEqual(studentDetailsErrors(details({ country: 'Atlantis', state }), context), {});
});

test('any state is taken of a country whose subdivisions are not known here', () => {
  assert.deepEqual(studentDetailsErrors(details({ country: 'Germany', state: 'Bayern' }), context), {});
});

test('no sentence about one field is that of another, so that the summary of errors can be understood', () => {
  for (const value of ['', 'x'.repeat(201), 'no such thing']) {
    const all = Object.fromEntries(
      Object.entries(details()).map(([field, given]) => [field, typeof given === 'boolean' ? false : value]),
    ) as unknown as SubmittedDetails;
    const said = Object.values(studentDetailsErrors({ ...all, country: 'United States' }, context));
    assert.ok(said.length > 0 && new Set(said).size === said.length, said.join(' '));
  }
});

test('a text that is too long is told with the name of its field', () => {
  assert.deepEqual(
    studentDetailsErrors(details({ city: 'x'.repeat(201), middleName: 'x'.repeat(201) }), context),
    {
      middleName: 'Middle name must be 200 characters or fewer.',
      city: 'City must be 200 characters or fewer.',
    },
  );
});

test('errors come in the order of the screen', () => {
  const empty = Object.fromEntries(
    Object.entries(details()).map(([field, value]) => [field, typeof value === 'boolean' ? false : '']),
  ) as unknown as SubmittedDetails;
  assert.deepEqual(Object.keys(studentDetailsErrors(empty, { ...context, asksGuardianConsent: true })), [
    'firstName',
    'lastName',
    'personalEmail',
    'country',
    'address1',
    'city',
    'zipcode',
    'highSchoolName',
    'highSchoolGraduationYear',
    'highSchoolGpa',
    'agreeToPolicies',
    'hasGuardianConsent',
  ]);
});

test('there are 10 graduation years from this one on, and 41 grade point averages', () => {
  assert.deepEqual(graduationYears(2026), [
    '2026',
    '2027',
    '2028',
    '2029',
    '2030',
    '2031',
    '2032',
    '2033',
    '2034',
    '2035',
  ]);
  assert.equal(gpaValues.length, 41);
  assert.deepEqual([gpaValues[0], gpaValues[1], gpaValues[35], gpaValues[40]], ['0.0', '0.1', '3.5', '4.0']);
});

test('what nobody sees counts as nothing, and does not stay in what is kept', () => {
  const typed = details({ firstName: '\u200b', zipcode: '\u00ad\u3164', lastName: ' Ri\u200bvera\u00a0 ' });
  assert.deepEqual(studentDetailsErrors(cleanDetails(typed), context), {
    firstName: 'First name is required.',
    zipcode: 'Zipcode is required.',
  });
  assert.equal(cleanDetails(typed).lastName, 'Rivera');
});

test('emails lose their wrappings, and the postcode takes the form of its country', () => {
  const { personalEmail, schoolEmail, zipcode } = cleanDetails(
    details({
      personalEmail: 'Jordan <mailto:jordan@example.com>;',
      schoolEmail: 'jordan@school.example,',
      zipcode: '2139',
      state: 'Massachusetts',
    }),
  );
  assert.deepEqual(
    [personalEmail, schoolEmail, zipcode],
    ['jordan@example.com', 'jordan@school.example', '02139'],
  );
});
