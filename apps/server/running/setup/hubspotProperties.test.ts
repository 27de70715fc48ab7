import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultFieldRules } from '#core/crmFields.ts';
import { HUBSPOT_ACCESS_TOKEN } from '../../../../emulators/keys.ts';
import { atHubspot, deliver } from '../../../../tests/harness/deliver.ts';
import { control } from '../../../../tests/harness/providers.ts';
import { paidJoin } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import type { ExistingProperty } from '../../crm/hubspot/client.ts';
import { CrmUnavailable } from '../../crm/hubspot/errors.ts';
import { neededProperties } from '../../crm/hubspot/properties.ts';
import { applyProperties, planProperties, wantedProperties } from './hubspotProperties.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });

const wanted = wantedProperties(defaultFieldRules);
const there = (name: string, change: Partial<ExistingProperty> = {}): ExistingProperty => ({
  ...wanted.find((property) => property.name === name)!,
  isReadOnly: false,
  ...change,
});
const planFor = async () => planProperties((await server.hubspot.getProperties())!, wanted);
const remove = (name: string) =>
  fetch(`${server.hubspotUrl}/crm/properties/2026-09/contacts/${name}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}` },
  });

test('what is wanted is what a join reads and writes', () => {
  assert.deepEqual(wanted.map(({ name }) => name).sort(), neededProperties(defaultFieldRules).sort());
});

test('in an account without the properties of the society, they are made with their types and groups, once, and a join is told in full', async () => {
  const first = await planFor();
  assert.deepEqual([first.create, first.differ], [[], []]);
  const own = wanted.map(({ name }) => name).filter((name) => isOwn(name));
  for (const name of own) assert.equal((await remove(name)).status, 204, name);
  const plan = await planFor();
  assert.deepEqual(plan.create.map(({ name }) => name).sort(), own.sort());

  const heard: string[] = [];
  const applied = await applyProperties(server.hubspot, plan, ({ name }) => heard.push(name));
  assert.deepEqual(new Set(applied.map(({ outcome }) => outcome)), new Set(['created']));
  assert.deepEqual(
    heard,
    applied.map(({ name }) => name),
  );
  const again = await planFor();
  assert.deepEqual([again.create, again.differ, again.fine.length], [[], [], wanted.length]);
  const made = new Map((await server.hubspot.getProperties())!.map((property) => [property.name, property]));
  assert.deepEqual(
    ['paid_at', 'amount_paid', 'accepted_privacy_policy', 'join_stage'].map((name) => {
      const { type, fieldType, groupName, options } = made.get(name)!;
      return [type, fieldType, groupName, options.map(({ value }) => value)];
    }),
    [
      ['datetime', 'date', 'contactinformation', []],
      ['number', 'number', 'contactinformation', []],
      ['bool', 'booleancheckbox', 'contactinformation', ['true', 'false']],
      ['string', 'text', 'contactinformation', []],
    ],
  );

  await paidJoin(server, server.client(), 'HONOR101');
  await deliver(server);
  const held = await atHubspot(server, '101', 'membership_status', 'amount_paid', 'accepted_privacy_policy');
  assert.deepEqual(
    [held.membership_status, held.amount_paid, held.accepted_privacy_policy],
    ['member', '65.00', 'true'],
  );
  // A second run must find all properties: setup may be repeated after an interruption, or run by two people at once.
  assert.deepEqual(
    new Set((await applyProperties(server.hubspot, plan)).map(({ outcome }) => outcome)),
    new Set(['was there']),
  );
});

/** Whether a property is not one of HubSpot's default properties, so that the test may remove it. */
function isOwn(name: string): boolean {
  return !['firstname', 'lastname', 'email', 'address', 'city', 'state', 'zip', 'country'].includes(name);
}

const option = (value: string) => ({ label: value, value });
for (const [what, property, text] of [
  ['text where a number is written', there('amount_paid', { type: 'string' }), null],
  [
    'a date where a time is written',
    there('paid_at', { type: 'date' }),
    /paid_at is of the type date, and datetime is written\. Name another/,
  ],
  [
    'a number where text is written',
    there('join_stage', { type: 'number' }),
    /is of the type number, and string is written/,
  ],
  [
    'a dropdown with all that is written',
    there('membership_status', {
      type: 'enumeration',
      options: ['member', 'former', 'prospect'].map(option),
    }),
    null,
  ],
  [
    'a dropdown without one of them',
    there('membership_status', { type: 'enumeration', options: [option('member')] }),
    /lacks the option former\. Add it/,
  ],
  [
    'a dropdown for what people type',
    there('city', { type: 'enumeration', options: [option('Austin')] }),
    /takes its options alone/,
  ],
  ['a dropdown that is only read', there('school_name', { type: 'enumeration' }), null],
  [
    'a checkbox of options',
    there('accepted_privacy_policy', { type: 'enumeration', options: ['true', 'false'].map(option) }),
    null,
  ],
  ['one that HubSpot writes', there('join_stage', { isReadOnly: true }), /written by HubSpot alone/],
] as [string, ExistingProperty, RegExp | null][])
  test(`${what} ${text ? 'is told, and left as it is' : 'fits'}`, () => {
    const { create, fine, differ } = planProperties([property], wanted);
    assert.ok(!create.some(({ name }) => name === property.name));
    assert.deepEqual(fine, text ? [] : [property.name]);
    if (text) assert.match(differ[0]!.text, text);
    else assert.deepEqual(differ, []);
  });

test('a key that may not make properties makes none, and says so', async () => {
  await remove('store_items');
  const scopes = ['crm.objects.contacts.read', 'crm.objects.contacts.write'];
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes });
  await assert.rejects(async () => applyProperties(server.hubspot, await planFor()), CrmUnavailable);
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes: null });
  assert.deepEqual(
    (await applyProperties(server.hubspot, await planFor())).map(({ name, outcome }) => [name, outcome]),
    [['store_items', 'created']],
  );
});
