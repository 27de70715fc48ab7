import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentOf } from './render.ts';

const none = { pages: {}, tables: {} };

test('a list has the items whose placeholders have values, and is left out without any', () => {
  const blocks = [
    { is: 'list', items: ['for {name}', 'by {giver}', 'of gold'] },
    { is: 'list', items: ['by {giver}'] },
    { is: 'paragraph', text: 'The end.' },
  ] as const;
  const letter = { subject: 'A', blocks: blocks.map((block) => structuredClone(block) as never) };
  assert.deepEqual(contentOf(letter, { ...none, texts: { name: 'Jo' } }).blocks, [
    { is: 'list', items: ['for Jo', 'of gold'] },
    { is: 'paragraph', text: 'The end.' },
  ]);
});

test('line breaks and control characters in a subject are one space', () => {
  const { subject } = contentOf(
    { subject: 'Hello {name}\n', blocks: [] },
    {
      ...none,
      texts: { name: 'Jo\r\n\u2028Bcc: x' },
    },
  );
  assert.equal(subject, 'Hello Jo Bcc: x');
});
