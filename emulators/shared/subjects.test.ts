import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realSubjects, SubjectFaults } from './subjects.ts';

const refused: [string, Record<string, string>, RegExp][] = [
  [
    'a live key of Stripe',
    { DRIFT_STRIPE_SECRET_KEY: 'sk_live_1', DRIFT_STRIPE_PUBLISHABLE_KEY: 'pk_test_1' },
    /DRIFT_STRIPE_SECRET_KEY is a live key/,
  ],
  [
    'a live restricted key of Stripe',
    { DRIFT_STRIPE_SECRET_KEY: 'rk_live_1', DRIFT_STRIPE_PUBLISHABLE_KEY: 'pk_live_1' },
    /DRIFT_STRIPE_SECRET_KEY is a live key.*\n.*DRIFT_STRIPE_PUBLISHABLE_KEY is a live key/,
  ],
  ['half of the keys', { DRIFT_STRIPE_SECRET_KEY: 'sk_test_1' }, /Set both/],
  [
    'the address of another machine',
    {
      DRIFT_STRIPE_SECRET_KEY: 'sk_test_1',
      DRIFT_STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
      DRIFT_STRIPE_URL: 'http://127.0.0.1.example.com',
    },
    /DRIFT_STRIPE_URL may only be an address of this machine/,
  ],
  [
    'an address of another machine for HubSpot',
    { DRIFT_HUBSPOT_ACCESS_TOKEN: 'pat-1', DRIFT_HUBSPOT_URL: 'https://api.example.com' },
    /DRIFT_HUBSPOT_URL may only be/,
  ],
];
for (const [what, env, sentence] of refused)
  test(`${what} is refused with a sentence`, () => {
    assert.throws(
      () => realSubjects(env),
      (error) => error instanceof SubjectFaults && sentence.test(error.message),
    );
  });
