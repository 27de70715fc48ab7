import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isLong } from '../../tests/harness/testLength.ts';
import { contactFields } from './contact.ts';
import {
  type CrmValues,
  codeField,
  crmFields,
  defaultFieldRules,
  type FieldValue,
  isSame,
  joinFields,
  laterFields,
  propertiesToSend,
  purchasesToSend,
} from './crmFields.ts';

const paidAt = '2026-05-04T10:20:30.123Z';
const personal: FieldValue[] = contactFields.map((field) => ({ field, value: `a ${field}` }));
const paid: FieldValue[] = [
  ...personal,
  { field: 'stage', value: 'paid' },
  { field: 'membershipStatus', value: 'member' },
  { field: 'membership', value: 'Membership' },
  { field: 'donation', value: '25.00' },
  { field: 'items', value: 'Lapel Pin' },
  { field: 'amountPaid', value: '102.00' },
  { field: 'paidAt', value: paidAt },
  { field: 'transcriptReceivedAt', value: paidAt },
];
const bought = {
  join_stage: 'paid',
  membership_status: 'member',
  membership_name: 'Membership',
  donation_amount: '25.00',
  store_items: 'Lapel Pin',
  amount_paid: '102.00',
  paid_at: paidAt,
};
const later = (status: string, items: string): FieldValue[] =>
  paid.map(({ field, value }) => ({
    field,
    value: field === 'membershipStatus' ? status : field === 'items' ? items : value,
  }));
const write = purchasesToSend;

test('a paid one says what was bought, and nothing of the person', () => {
  assert.deepEqual(write(defaultFieldRules, paid, {}, {}).properties, bought);
});

for (const status of ['prospect', 'former'])
  test(`a status that says ${status} becomes member, follows a refund, and all else that others wrote stays`, () => {
    const present = { membership_status: status, amount_paid: '60' };
    const first = write(defaultFieldRules, paid, {}, present);
    assert.deepEqual(
      [first.properties.membership_status, first.properties.amount_paid, first.written.amountPaid],
      ['member', undefined, undefined],
    );
    const now = { ...present, ...first.properties };
    const ended = write(defaultFieldRules, later('former', ''), first.written, now);
    assert.equal(ended.properties.membership_status, 'former');
  });

test('a status that said member already is not ours, and stays when the payer is refunded', () => {
  const present = { membership_status: 'member' };
  const first = write(defaultFieldRules, paid, {}, present);
  assert.deepEqual(
    [first.properties.membership_status, first.written.membershipStatus],
    [undefined, undefined],
  );
  const now = { ...present, ...first.properties };
  const ended = write(defaultFieldRules, later('former', ''), first.written, now);
  assert.equal(ended.properties.membership_status, undefined);
});

test('a change that the server wrote and died before noting is taken for its own', () => {
  const known = write(defaultFieldRules, paid, {}, {}).written;
  const present = { ...bought, membership_status: 'former' };
  const again = write(defaultFieldRules, later('former', 'Lapel Pin'), known, present);
  assert.deepEqual(again.properties, {});
  // The refund has failed, so the join's status is `member` again.
  const back = write(defaultFieldRules, paid, { ...known, ...again.written }, present);
  assert.deepEqual(back.properties, { membership_status: 'member' });
});

test('what the join wrote itself follows what becomes of it, also when the server died before noting that it wrote', () => {
  const held = { ...bought, amount_paid: '102' };
  const ended = later('former', '');
  for (const written of [write(defaultFieldRules, paid, {}, {}).written, {}])
    assert.deepEqual(write(defaultFieldRules, ended, written, held).properties, {
      membership_status: 'former',
      store_items: '',
    });
});

test('what the join wrote of a payment that was none is corrected, and nothing else is written', () => {
  const none = later('former', '').map((one) => (one.field === 'paidAt' ? { ...one, value: '' } : one));
  const { written } = write(defaultFieldRules, paid, {}, {});
  const corrected = { membership_status: 'former', store_items: '', paid_at: '' };
  assert.deepEqual(write(defaultFieldRules, none, written, bought).properties, corrected);
});

test('what was told of a payment that is made again is its own: it is dated by Stripe then, and was confirmed later', () => {
  // `noted`, the record of what the join wrote, has a personal field only. No join writes personal fields to an unproven contact,
  // so the record does not show whether the purchases were written.
  const noted = { firstName: '' };
  const properties = (again: string, held: string) => {
    const values = later('former', '').map((one) =>
      one.field === 'paidAt' ? { ...one, value: again } : one,
    );
    const { properties } = write(defaultFieldRules, values, noted, { ...bought, paid_at: held });
    return properties.membership_status ?? 'left as it is';
  };
  assert.equal(properties('2026-05-04T10:20:30.000Z', paidAt), 'former');
  assert.equal(properties('2026-05-04T10:12:00.000Z', paidAt), 'former');
  assert.equal(properties('2026-05-04T10:20:30.000Z', '2026-05-04T10:30:30.000Z'), 'former', 'ten minutes');
  assert.equal(properties(paidAt, paidAt), 'former');
  for (const [again, held, whose] of [
    ['2026-05-04T10:20:31.000Z', paidAt, 'of one that was paid before'],
    ['2026-05-04T10:10:00.000Z', paidAt, 'of one that was paid long after'],
    ['2026-05-04T10:20:30.100Z', paidAt, 'of another one, which was not made again'],
    ['2026-05-04T10:20:30.000Z', '', 'of none'],
  ] as const)
    assert.equal(properties(again, held), 'left as it is', whose);
});

test('what staff wrote over it since stays, but for a member whom they call former', () => {
  const { written } = write(defaultFieldRules, paid, {}, {});
  const held = { ...bought, membership_status: 'honorary', amount_paid: '1.00' };
  const ended = later('former', '');
  assert.deepEqual(write(defaultFieldRules, paid, written, held).properties, {});
  assert.deepEqual(write(defaultFieldRules, paid, written, held).written, written, 'it counts as told');
  const former = { ...held, membership_status: 'former' };
  assert.deepEqual(write(defaultFieldRules, paid, written, former).properties, {
    membership_status: 'member',
  });
  assert.deepEqual(write(defaultFieldRules, ended, written, held).properties, { store_items: '' });
});

test("a society's never and blanks hold for a contact that is not ours, too", () => {
  const rules = {
    ...defaultFieldRules,
    membershipStatus: { property: 'membership_status', write: 'never' as const },
    items: { property: 'store_items', write: 'blanks' as const },
    donation: { property: null, write: 'overwrite' as const },
  };
  const first = write(rules, paid, {}, { membership_status: 'prospect' });
  assert.deepEqual(Object.keys(first.properties).sort(), [
    'amount_paid',
    'join_stage',
    'membership_name',
    'paid_at',
    'store_items',
  ]);
  const again = write(rules, later('former', 'Honor Stole'), first.written, { store_items: 'Lapel Pin' });
  assert.equal(again.properties.store_items, undefined);
});

const sent = {
  firstname: 'a firstName',
  middlename: 'a middleName',
  lastname: 'a lastName',
  address: 'a address',
  address2: 'a address2',
  city: 'a city',
  state: 'a state',
  zip: 'a zip',
  country: 'a country',
  personal_email: 'a personalEmail',
  school_email: 'a schoolEmail',
  accepted_privacy_policy: 'a acceptedPrivacyPolicy',
  high_school_name: 'a highSchoolName',
  high_school_graduation_year: 'a highSchoolGraduationYear',
  high_school_gpa: 'a highSchoolGpa',
};

test("a proven contact gets all that its member says, and keeps the email, the school and the invitation's code", () => {
  const values: FieldValue[] = [...personal, { field: codeField, value: 'ABC' }];
  assert.deepEqual(propertiesToSend(defaultFieldRules, values, {}, {}), sent);
});

test('a proven contact is told all of what it bought, and when its transcript came', () => {
  const values = paid.filter(({ field }) => (joinFields as readonly string[]).includes(field));
  assert.deepEqual(propertiesToSend(defaultFieldRules, values, {}, {}), {
    ...bought,
    transcript_received_at: paidAt,
  });
});

test('what the CRM has not, and what it has already, is not sent', () => {
  const rules = { ...defaultFieldRules, city: { property: null, write: 'overwrite' as const } };
  const values = personal.filter(({ field }) => ['city', 'state', 'zip'].includes(field));
  assert.deepEqual(propertiesToSend(rules, values, { state: 'a state' }, {}), { zip: 'a zip' });
});

test('a field that only fills blanks is written where nothing stands', () => {
  const rules = { ...defaultFieldRules, city: { property: 'city', write: 'blanks' as const } };
  const values: FieldValue[] = [
    { field: 'city', value: 'Austin' },
    { field: 'state', value: 'TX' },
  ];
  assert.deepEqual(propertiesToSend(rules, values, {}, { city: 'Reno' }), { state: 'TX' });
  for (const present of [{}, { city: '' }, { city: null }])
    assert.deepEqual(propertiesToSend(rules, values, {}, present), { city: 'Austin', state: 'TX' });
});

test('a payment of which the CRM was not told is compared with what the CRM has, and no holder is left former', () => {
  const now = { ...bought, membership_status: 'prospect', amount_paid: '1.00' };
  const sentBefore: CrmValues = {
    membershipStatus: 'member',
    amountPaid: '102.00',
    items: 'Lapel Pin',
    paidAt,
  };
  const values = (at: string, status = 'member') =>
    later(status, 'Lapel Pin').map((one) => (one.field === 'paidAt' ? { ...one, value: at } : one));
  const written = (at: string, present: object, status?: string) => {
    const all = propertiesToSend(defaultFieldRules, values(at, status), sentBefore, { ...present });
    return [all.membership_status, all.amount_paid];
  };
  assert.deepEqual(written(paidAt, now), [undefined, undefined]);
  assert.deepEqual(written('2026-06-04T10:20:30.123Z', now), ['member', '102.00']);
  assert.deepEqual(written(paidAt, { ...now, membership_status: 'former' }), ['member', undefined]);
  const told = { ...sentBefore, membershipStatus: 'former' };
  const ended = values('2026-06-04T10:20:30.123Z', 'former');
  assert.equal(
    propertiesToSend(defaultFieldRules, ended, told, { membership_status: 'member' }).membership_status,
    undefined,
    'an end that was told is not told to the contact into which it was merged',
  );
});

test('a society that made its properties before there were upgrades, donations and items to tell need not add them', () => {
  for (const field of ['upgrade', 'donation', 'items'] as const) assert.ok(laterFields.includes(field));
  for (const field of ['membership', 'membershipStatus', 'amountPaid', 'paidAt'] as const)
    assert.ok(!laterFields.includes(field));
});

test('nothing that the member left empty is blanked; what was bought is, when it is gone and staff have not changed it', () => {
  const values: FieldValue[] = [
    { field: 'city', value: '' },
    { field: 'items', value: '' },
    { field: 'upgrade', value: '' },
  ];
  const known = { city: 'Austin', items: 'Lapel Pin' };
  const written = (present: object) => propertiesToSend(defaultFieldRules, values, known, { ...present });
  assert.deepEqual(written({ city: 'Austin', store_items: 'Lapel Pin' }), { store_items: '' });
  assert.deepEqual(written({ store_items: 'Two Pins' }), {});
});

test('numbers and times are compared as such', () => {
  assert.deepEqual(
    [
      isSame('65.00', '65'),
      isSame('65', '56'),
      isSame('', '0'),
      isSame('01234', '1234'),
      isSame('1e3', '1000'),
      isSame('2026-05-04T10:20:30Z', '2026-05-04T10:20:30.000Z'),
      isSame('2026-05-04T10:20:30Z', '2026-05-04T10:20:31Z'),
      isSame('May', 'may'),
      isSame('0', ''),
      // Free text is compared as text, even where it could be parsed as a time.
      isSame('May 4 2026', 'May 04 2026'),
      isSame('2026-05-04T00:00:00Z', 'May 4 2026 00:00 UTC'),
    ],
    [true, false, false, false, false, true, false, false, false, false, false],
  );
});

const values = fc
  .uniqueArray(
    fc.record({
      field: fc.constantFrom(...crmFields),
      value: fc.constantFrom('', 'member', 'former', 'b', paidAt, '65.00'),
    }),
    { selector: ({ field }) => field },
  )
  .filter((all) => all.length > 0);
const word = fc.constantFrom('', 'member', 'former', 'b', 'prospect', '65', paidAt);
const properties = Object.values(defaultFieldRules).map(({ property }) => property!);
const held = fc.dictionary(fc.constantFrom(...properties), word);
const wrote = fc.dictionary(fc.constantFrom(...crmFields), word);

test('whatever is joined, held and known: a contact that is not ours gets nothing of a person, and nothing but member over what others wrote', () => {
  fc.assert(
    fc.property(values, wrote, held, (values, written, present) => {
      const write = purchasesToSend(defaultFieldRules, values, written as CrmValues, present);
      const isNoted = joinFields.some((one) => one !== 'transcriptReceivedAt' && one in written);
      for (const [property, value] of Object.entries(write.properties)) {
        assert.ok(property in bought || property === 'upgrade_name', property);
        const field = crmFields.find((field) => defaultFieldRules[field].property === property)!;
        const standing = present[property] ?? '';
        const isOwn = isSame(standing, written[field] ?? '') || !isNoted;
        assert.ok(standing === '' || isOwn || value === 'member', `${property} was ${standing}`);
      }
      const status = values.find(({ field }) => field === 'membershipStatus')?.value;
      if (status === 'member') {
        const isWritten = write.written.membershipStatus === status;
        const isTold =
          (written as CrmValues).membershipStatus === status && present.membership_status !== 'former';
        assert.ok(isWritten || isTold || present.membership_status === status);
      }
    }),
    { numRuns: isLong ? 20_000 : 2_000 },
  );
});
