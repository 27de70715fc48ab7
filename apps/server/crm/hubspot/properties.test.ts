import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultFieldRules } from '#core/crmFields.ts';
import { toProfile } from './properties.ts';

test('a contact has agreed to the policies only where HubSpot says true', () => {
  const { property } = defaultFieldRules.acceptedPrivacyPolicy;
  const values = ['true', 'false', '', 'yes', null, undefined];
  assert.deepEqual(
    values.map((value) => toProfile(defaultFieldRules, { [property!]: value }).acceptedPrivacyPolicy),
    [true, false, false, false, false, false],
  );
});
