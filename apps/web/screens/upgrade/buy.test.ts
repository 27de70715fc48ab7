import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Site } from '#contract/schemas.ts';
import { setSite } from '../../lib/site.ts';
import { buyWithSavedCard } from './buy.ts';

test('an upgrade about which the bank decides longer than the page asks is not said to have failed', async (t) => {
  setSite({ apiUrl: '' } as Site);
  let ticking: ReturnType<typeof setInterval> | undefined;
  const charges: boolean[] = [];
  t.after(() => clearInterval(ticking));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(globalThis, 'fetch', async (_: unknown, { body }: RequestInit) => {
    charges.push(JSON.parse(String(body)).charge);
    ticking ??= setInterval(() => t.mock.timers.tick(10_000), 5);
    return new Response(JSON.stringify({ status: 'success', success: true, data: { status: 'processing' } }));
  });
  const bought = await buyWithSavedCard({ uuid: 'u', paymentIntent: 'pi', amount: 4500 });
  assert.notEqual(
    bought === true ? '' : bought.message,
    'Upgrade failed!',
    'the card may be charged at any moment',
  );
  assert.deepEqual(charges, [true, false, false, false, false], 'only the first call may charge');
});
