import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contactFields } from './contact.ts';
import {
  type CrmValues,
  codeField,
  crmFields,
  defaultFieldRules,
  type FieldValue,
  isSame,
  joinFields,
  knownOfSeveral,
  laterFields,
  mustRead,
  propertiesForUnproven,
  propertiesToSend,
} from './crmFields.ts';

const paidAt = '2026-05-04T10:20:30.123Z';
const personal: FieldValue[] = contactFields.map((field) => ({ field, value: `a ${field}` }));
const unpaid: FieldValue[] = [...personal, { field: 'stage', value: 'ordering' }];
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
const write = propertiesForUnproven;

test('a join that is not paid writes nothing into a contact that is not proven, not even into blanks', () => {
  assert.deepEqual(write(defaultFieldRules, unpaid, {}, {}), {
    properties: {},
    written: {},
    statusInTheWay: null,
  });
});

test('a paid one says what was bought, and nothing of the person', () => {
  const { properties, statusInTheWay } = write(defaultFieldRules, paid, {}, {});
  assert.deepEqual([properties, statusInTheWay], [bought, null]);
});

for (const status of ['prospect', 'former', 'member'])
  test(`a status that says ${status} stays and is told, whatever else is blank`, () => {
    const present = { membership_status: status, amount_paid: '65' };
    const { properties, written, statusInTheWay } = write(defaultFieldRules, paid, {}, present);
    assert.equal(statusInTheWay, status);
    assert.deepEqual([properties.membership_status, properties.amount_paid], [undefined, undefined]);
    assert.deepEqual([written.membershipStatus, written.amountPaid], [undefined, undefined]);
    assert.equal(properties.paid_at, paidAt);
  });

for (const status of ['prospect', 'former'])
  test(`a status that says ${status} of likely the same person becomes member, and follows a refund`, () => {
    const present = { firstname: 'SEAN', lastname: 'O’Brien', membership_status: status };
    const named = { firstName: 'Sean', lastName: "O'Brien" };
    const first = write(defaultFieldRules, paid, {}, present, named);
    assert.deepEqual([first.properties.membership_status, first.statusInTheWay], ['member', null]);
    const ended = write(
      defaultFieldRules,
      later('former', ''),
      first.written,
      { ...present, ...first.properties },
      named,
    );
    assert.equal(ended.properties.membership_status, 'former');
    for (const other of [
      { ...named, firstName: 'Rory' },
      { firstName: '', lastName: '' },
    ])
      assert.equal(write(defaultFieldRules, paid, {}, present, other).statusInTheWay, status);
    assert.equal(
      write(defaultFieldRules, paid, {}, { membership_status: status }, named).statusInTheWay,
      status,
    );
  });

test('likely the same person whom the CRM calls a member already is told to staff: they may have paid twice', () => {
  const named = { firstName: 'Sean', lastName: "O'Brien" };
  const present = { firstname: 'Sean', lastname: "O'Brien", membership_status: 'member' };
  const { written, statusInTheWay } = write(defaultFieldRules, paid, {}, present, named);
  assert.deepEqual([written.membershipStatus, statusInTheWay], [undefined, 'member']);
});

test('a change that the server wrote and died before noting is taken for its own, and not told as in the way', () => {
  const known = write(defaultFieldRules, paid, {}, {}).written;
  const former = paid.map((one) => (one.field === 'membershipStatus' ? { ...one, value: 'former' } : one));
  const present = { ...bought, membership_status: 'former' };
  const again = write(defaultFieldRules, former, known, present);
  assert.deepEqual([again.properties, again.statusInTheWay], [{}, null]);
  // The refund has failed, so the join's status is `member` again.
  const back = write(defaultFieldRules, paid, { ...known, ...again.written }, present);
  assert.deepEqual([back.properties, back.statusInTheWay], [{ membership_status: 'member' }, null]);
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

test('a status that was in the way stays so, also when the server died before noting what it wrote beside it', () => {
  for (const status of ['prospect', 'former']) {
    const first = write(defaultFieldRules, paid, {}, { membership_status: status });
    const now = { membership_status: status, ...first.properties };
    const again = write(defaultFieldRules, paid, {}, now);
    assert.deepEqual([again.properties, again.statusInTheWay], [{}, status]);
  }
});

test('what the join wrote of a payment that was none is corrected, nothing else is written, and nothing is told as in the way', () => {
  const none = later('former', '').map((one) => (one.field === 'paidAt' ? { ...one, value: '' } : one));
  const { written } = write(defaultFieldRules, paid, {}, {});
  const corrected = { membership_status: 'former', store_items: '', paid_at: '' };
  assert.deepEqual(write(defaultFieldRules, none, written, bought).properties, corrected);
  for (const held of [{}, bought])
    assert.deepEqual(write(defaultFieldRules, none, {}, held).properties, {}, 'it wrote nothing');
  // The payer of this join is a member by another join, and staff have since written another status to the contact.
  const member = none.map((one) => (one.field === 'membershipStatus' ? { ...one, value: 'member' } : one));
  const held = { ...bought, membership_status: 'honorary' };
  assert.equal(write(defaultFieldRules, member, written, held).statusInTheWay, null);
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

test('what staff wrote over it since stays, and a status is told while the payer is a member', () => {
  const { written } = write(defaultFieldRules, paid, {}, {});
  const held = { ...bought, membership_status: 'honorary' };
  assert.equal(write(defaultFieldRules, paid, written, held).statusInTheWay, 'honorary');
  const { properties, statusInTheWay } = write(defaultFieldRules, later('former', ''), written, held);
  assert.deepEqual([properties, statusInTheWay], [{ store_items: '' }, null]);
});

test("a society's never and blanks hold for a contact that is not proven, too", () => {
  const rules = {
    ...defaultFieldRules,
    membershipStatus: { property: 'membership_status', write: 'never' as const },
    items: { property: 'store_items', write: 'blanks' as const },
    donation: { property: null, write: 'overwrite' as const },
  };
  const first = write(rules, paid, {}, { membership_status: 'prospect' });
  assert.equal(first.statusInTheWay, null);
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
  assert.deepEqual(propertiesToSend(defaultFieldRules, values, {}, null), sent);
});

test('a proven contact is told all of what it bought, and when its transcript came', () => {
  const values = paid.filter(({ field }) => (joinFields as readonly string[]).includes(field));
  assert.deepEqual(propertiesToSend(defaultFieldRules, values, {}, null), {
    ...bought,
    transcript_received_at: paidAt,
  });
});

test('what the CRM has not, and what it has already, is not sent', () => {
  const rules = { ...defaultFieldRules, city: { property: null, write: 'overwrite' as const } };
  const values = personal.filter(({ field }) => ['city', 'state', 'zip'].includes(field));
  assert.deepEqual(propertiesToSend(rules, values, { state: 'a state' }, null), { zip: 'a zip' });
});

test('a field that only fills blanks waits until it is known that nothing stands there', () => {
  const rules = { ...defaultFieldRules, city: { property: 'city', write: 'blanks' as const } };
  const values: FieldValue[] = [
    { field: 'city', value: 'Austin' },
    { field: 'state', value: 'TX' },
  ];
  const isReadFirst = (city: string, known: CrmValues = {}) =>
    mustRead(rules, [{ field: 'city', value: city }, values[1]!], known);
  assert.deepEqual(
    [
      isReadFirst('Austin'),
      isReadFirst('Austin', { city: 'Reno' }),
      isReadFirst('Austin', { city: 'Austin' }),
    ],
    [true, true, false],
  );
  assert.deepEqual([isReadFirst(''), isReadFirst('', { city: 'Reno' })], [false, false]);
  assert.equal(mustRead(defaultFieldRules, values, {}), false);
  assert.deepEqual(propertiesToSend(rules, values, {}, null), { state: 'TX' });
  assert.deepEqual(propertiesToSend(rules, values, {}, { city: 'Reno' }), { state: 'TX' });
  for (const present of [{}, { city: '' }, { city: null }])
    assert.deepEqual(propertiesToSend(rules, values, {}, present), { city: 'Austin', state: 'TX' });
});

test('a society that made its properties before there were upgrades, donations and items to tell need not add them', () => {
  for (const field of ['upgrade', 'donation', 'items'] as const) assert.ok(laterFields.includes(field));
  for (const field of ['membership', 'membershipStatus', 'amountPaid', 'paidAt'] as const)
    assert.ok(!laterFields.includes(field));
});

test('nothing that the member left empty is blanked; what the join wrote of its own is, when it is gone', () => {
  const values: FieldValue[] = [
    { field: 'city', value: '' },
    { field: 'items', value: '' },
    { field: 'upgrade', value: '' },
  ];
  const known = { city: 'Austin', items: 'Lapel Pin' };
  assert.deepEqual(propertiesToSend(defaultFieldRules, values, known, null), { store_items: '' });
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

test('whatever is joined, held and known: an unproven contact gets nothing of a person, and nothing over what others wrote', () => {
  fc.assert(
    fc.property(values, wrote, held, (values, written, present) => {
      const write = propertiesForUnproven(defaultFieldRules, values, written as CrmValues, present);
      const paidAt = values.find(({ field }) => field === 'paidAt')?.value;
      const isPaid = paidAt !== undefined && paidAt !== '';
      const isNoted = joinFields.some((one) => one !== 'transcriptReceivedAt' && one in written);
      if (!isPaid && !(paidAt === '' && isNoted)) assert.deepEqual(write.properties, {});
      for (const property of Object.keys(write.properties)) {
        assert.ok(property in bought || property === 'upgrade_name', property);
        const field = crmFields.find((field) => defaultFieldRules[field].property === property)!;
        const standing = present[property] ?? '';
        const isOwn = isSame(standing, written[field] ?? '') || !isNoted;
        assert.ok(standing === '' || isOwn, `${property} was ${standing}`);
      }
      // If the payer is a member, either the CRM's status is set to `member`, or it is `member` already, or the conflicting status
      // is reported.
      const status = values.find(({ field }) => field === 'membershipStatus')?.value;
      if (isPaid && status === 'member')
        assert.ok(write.statusInTheWay !== null || write.written.membershipStatus === status);
      else assert.equal(write.statusInTheWay, null);
    }),
    { numRuns: 2_000 },
  );
});

test('of a contact that several joins write, only status and stage are known as one of them wrote them', () => {
  const own: CrmValues = {
    membershipStatus: 'member',
    stage: 'paid',
    membership: 'Membership',
    donation: '25.00',
  };
  const rules = { ...defaultFieldRules, items: { ...defaultFieldRules.items, property: null } };
  const present = Object.fromEntries(
    joinFields.flatMap((field) => {
      const { property } = rules[field];
      return property === null || field === 'donation' ? [] : [[property, `${field} there`]];
    }),
  );
  const others = joinFields.filter(
    (field) => !['membershipStatus', 'stage', 'donation', 'items'].includes(field),
  );
  assert.deepEqual(knownOfSeveral(rules, own, present), {
    membershipStatus: 'member',
    stage: 'paid',
    donation: '',
    items: '',
    ...Object.fromEntries(others.map((field) => [field, `${field} there`])),
  });
});
