import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentOf, htmlOf, textOf } from './render.ts';

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

test('an address of several lines keeps its lines, in both versions of a letter', () => {
  const content = { subject: 'A', blocks: [], addresses: [] };
  const sender = {
    name: 'Society',
    supportEmail: 'help@example.org',
    supportPhone: '(555) 010-0144',
    colours: { gold: '#E8B23A', red: '#9E1B32' },
    postalAddress: "O'Brien & Daughters\n12 Oak Street\nWellington 6011",
    stopPage: null,
    checkPage: 'https://join.society.example/check',
  };
  assert.match(textOf(content, sender), /\nO'Brien & Daughters\n12 Oak Street\nWellington 6011\nNot sure/);
  assert.match(
    htmlOf(content, sender),
    /<br>O(&#39;|')Brien &(amp|#38); Daughters<br>12 Oak Street<br>Wellington 6011</,
  );
});
