import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ApiVersion } from './api-version.ts';
import { generateShapes } from './generate-shapes.ts';
import { faultsOfAnswer } from './shapes.ts';
import { emulate } from './test-support.ts';

test('the shapes are those of the installed stripe package', () => {
  const kept = JSON.parse(readFileSync(new URL('./shapes.schema.json', import.meta.url), 'utf8'));
  assert.deepEqual(generateShapes(), kept, 'run: node emulators/stripe/generate-shapes.ts');
  assert.match(kept['x-source'], new RegExp(`API ${ApiVersion}`));
});

test('an answer with a field too many or too few has faults', async (t) => {
  const { stripe } = await emulate(t);
  const { lastResponse, ...customer } = await stripe.customers.create();
  assert.deepEqual(faultsOfAnswer(customer), []);
  assert.match(faultsOfAnswer({ ...customer, colour: 'red' })[0]!, /colour/);
  const { livemode, ...partial } = customer;
  assert.match(faultsOfAnswer(partial)[0]!, /livemode/);
});
