import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phoneLink } from './site.ts';

test('a link to a phone number dials the number without its extension', () => {
  for (const [phone, link] of [
    ['(555) 010-0144', 'tel:5550100144'],
    ['+1 (555) 010-0144', 'tel:+15550100144'],
    ['(555) 010-0144 ext. 12', 'tel:5550100144'],
    ['+1 555 010 0144 Extension 1234 or 1235', 'tel:+15550100144'],
    ['555-010-0144 x12', 'tel:5550100144'],
    ['555-010-0144x12', 'tel:5550100144'],
    ['555-010-0144 #2', 'tel:5550100144'],
  ] as const)
    assert.equal(phoneLink(phone), link, phone);
});
