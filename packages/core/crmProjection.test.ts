import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isLong } from '../../tests/harness/testLength.ts';
import { contactFields } from './contact.ts';
import { type CrmValues, defaultFieldRules } from './crmFields.ts';
import { compareNames, project, projectNew, type Told } from './crmProjection.ts';
import type { StudentDetails } from './studentDetails.ts';

const details = {
  firstName: 'Sean',
  lastName: "O'Brien",
  personalEmail: 'Sean@example.com',
  city: 'Austin',
} as StudentDetails;
const nobody: Told = {
  details: null,
  joins: [],
  amountCents: null,
  orders: [],
  hasBought: false,
  holdsMembership: false,
  holdsUpgrade: false,
  isMember: false,
  transcriptAt: null,
};

function person(
  what: 'open' | 'holds' | 'ended' | 'upgraded alone',
  { uuid = 'own', item = '', isMember = what === 'holds' } = {},
): Told {
  const at = '2026-05-01T10:00:00.000Z';
  if (what === 'open')
    return {
      ...nobody,
      details,
      joins: [{ uuid, state: 'ordering', createdAt: at, paidAt: null }],
      isMember,
    };
  const type = what === 'upgraded alone' ? ('membership_upgrade' as const) : ('membership' as const);
  const lines = [{ productId: 1, type, name: type, priceCents: 6500 }];
  const items = item ? [{ productId: 2, type: 'store' as const, name: item, priceCents: 500 }] : [];
  const amountCents = 6500 + items.length * 500;
  const isEnded = what === 'ended';
  return {
    details,
    joins: [{ uuid, state: 'paid', createdAt: at, paidAt: at }],
    amountCents: isEnded ? 0 : amountCents,
    orders: [{ lines: [...lines, ...items], amountCents, refunds: [] }],
    hasBought: type === 'membership',
    holdsMembership: what === 'holds',
    holdsUpgrade: what === 'upgraded alone',
    isMember,
    transcriptAt: null,
  };
}

const contact = { own: nobody, attached: nobody, isMade: false, sent: {} as CrmValues };
const write = (given: Partial<typeof contact>, present: Record<string, string> = {}) =>
  project(defaultFieldRules, { ...contact, ...given }, present);
const personal = contactFields.flatMap((field) => defaultFieldRules[field].property ?? []);
const paidAt = '2026-05-01T10:00:00.000Z';
const member = { membershipStatus: 'member', paidAt };

test('whom staff made a member stays one by their word, whatever is bought by the attached', () => {
  for (const attached of [person('holds'), person('ended')]) {
    const byHand = write({ own: person('upgraded alone'), attached }, { membership_status: 'member' });
    assert.equal('membership_status' in byHand.properties, false);
    assert.equal('membershipStatus' in byHand.sent, false);
  }
  const other = write(
    { own: person('upgraded alone'), attached: person('holds') },
    { membership_status: '' },
  );
  assert.deepEqual([other.properties.membership_status, other.sent.membershipStatus], ['member', 'member']);
});

test('what is written of the membership status, by what is held and whose contact it is', () => {
  for (const [what, given, status, written] of [
    ['nobody has paid', { own: person('open') }, 'prospect', undefined],
    ['a membership', { own: person('holds') }, 'prospect', 'member'],
    ['one that was told, and staff changed', { own: person('holds'), sent: member }, 'honorary', undefined],
    [
      'one that was told, and HubSpot says former',
      { own: person('holds'), sent: member },
      'former',
      'member',
    ],
    ['one that ended', { own: person('ended') }, 'member', 'former'],
    ['one that ended beside a holder', { own: person('ended', { isMember: true }) }, '', 'member'],
    ['an upgrade alone', { own: person('upgraded alone') }, 'member', undefined],
    ['of who is attached, in a blank', { attached: person('holds') }, '', 'member'],
    ['of who is attached, over another', { attached: person('holds') }, 'former', 'member'],
    ['of who is attached, told', { attached: person('holds') }, 'member', undefined],
    ['of who is attached, ended', { attached: person('ended'), sent: member }, 'member', 'former'],
    [
      'of who is attached, ended, changed',
      { attached: person('ended'), sent: member },
      'honorary',
      undefined,
    ],
    ['nobody any more', { sent: member }, 'member', ''],
    ['nobody any more, changed', { sent: member }, 'honorary', undefined],
  ] as const) {
    const { properties } = write(given as Partial<typeof contact>, { membership_status: status });
    assert.equal(properties.membership_status, written, what);
  }
});

test('who merely found a contact gives what they bought and nothing of their person', () => {
  assert.deepEqual(write({ attached: person('holds') }).properties, {
    join_stage: 'paid',
    membership_status: 'member',
    membership_name: 'membership',
    amount_paid: '65.00',
    paid_at: paidAt,
  });
});

test('a join that is being paid is at the stage of one that orders, to which it may return', () => {
  const [join] = person('open').joins;
  const paying = { ...person('open'), joins: [{ ...join!, state: 'paying' as const }] };
  assert.equal(write({ own: paying }).properties.join_stage, 'ordering');
});

test('a member who has begun another join is at the stage of a member, and of that join once the membership has ended', () => {
  const [begun] = person('open', { uuid: 'another' }).joins;
  const stageOf = (what: 'holds' | 'ended') => {
    const own = person(what);
    return write({ own: { ...own, joins: [...own.joins, begun!] } }).properties.join_stage;
  };
  assert.deepEqual([stageOf('holds'), stageOf('ended')], ['paid', 'ordering']);
});

test('in a contact that is ours what its person has not is that of the attached, and nothing but the status else', () => {
  const attached = person('holds', { uuid: 'attached', item: 'Pin' });
  const { properties } = write({ own: person('ended'), attached });
  assert.deepEqual(
    [properties.membership_status, properties.amount_paid, properties.store_items, properties.city],
    ['member', '0.00', 'Pin', 'Austin'],
  );
});

test('what is nobody’s any more is emptied, and what staff wrote over ours is theirs', () => {
  const first = write({ attached: person('holds', { item: 'Pin' }) });
  const held = { ...first.properties, amount_paid: '1.00' };
  const { properties, sent } = write({ sent: first.sent }, held);
  assert.deepEqual(Object.keys(properties).sort(), [
    'join_stage',
    'membership_name',
    'membership_status',
    'paid_at',
    'store_items',
  ]);
  assert.equal(sent.amountPaid, undefined);
});

test('a corrected email is written into the contact that a join made, and a new contact has all that is known', () => {
  const own = person('holds');
  assert.equal(write({ own, isMade: true }).properties.email, 'sean@example.com');
  assert.equal(
    write({ own, isMade: true, sent: { personalEmail: 'Sean@example.com' } }).properties.email,
    undefined,
  );
  assert.equal(write({ own }).properties.email, undefined);
  const { properties, sent } = projectNew(defaultFieldRules, { ...own, details });
  assert.deepEqual([properties.email, properties.membership_status], ['sean@example.com', 'member']);
  assert.deepEqual([sent.city, sent.amountPaid], ['Austin', '65.00']);
});

test('the name that HubSpot has for an email is the same however it is spelled, another, or none', () => {
  for (const [firstName, lastName, compared] of [
    ['SEAN', 'O’Brien', 'same'],
    ['Rory', "O'Brien", 'other'],
    ['Sean', 'Smith', 'other'],
    ['Sean', null, 'same'],
    [null, 'Smith', 'other'],
    ['?', "O'Brien", 'other'],
    [null, '', 'none'],
  ] as const)
    assert.equal(compareNames({ firstName, lastName }, details), compared, `${firstName} ${lastName}`);
});

const people = fc
  .tuple(
    fc.constantFrom('nobody', 'open', 'holds', 'ended', 'upgraded alone'),
    fc.record({ item: fc.constantFrom('', 'Pin'), isMember: fc.boolean() }),
  )
  .map(([what, given]) => {
    if (what === 'nobody') return nobody;
    const one = person(what as 'open', given);
    return { ...one, isMember: one.isMember || one.holdsMembership };
  });
const value = fc.constantFrom('', 'member', 'former', 'prospect', '65.00', 'Sean');
const held = fc.dictionary(fc.constantFrom(...personal, 'membership_status', 'amount_paid'), value);
const known = fc.dictionary(fc.constantFrom('membershipStatus', 'amountPaid', 'paidAt', 'firstName'), value);

test('whatever HubSpot has and was told: no holder is former, nothing personal in a contact that is not ours, a second write says nothing', () => {
  fc.assert(
    fc.property(people, people, fc.boolean(), known, held, (own, attached, isMade, sent, present) => {
      const contact = { own, attached, isMade, sent };
      const first = project(defaultFieldRules, contact, present);
      if (own.joins.length === 0)
        for (const property of personal) assert.ok(!(property in first.properties), property);
      const now = { ...present, ...first.properties };
      if (own.holdsMembership || attached.holdsMembership) assert.notEqual(now.membership_status, 'former');
      const again = project(defaultFieldRules, { ...contact, sent: { ...sent, ...first.sent } }, now);
      assert.deepEqual(again.properties, {});
    }),
    { numRuns: isLong ? 20_000 : 2_000 },
  );
});
