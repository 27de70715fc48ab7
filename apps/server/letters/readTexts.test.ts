import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { letterKinds } from '#core/letterKinds.ts';
import { societyFile } from '../../../tests/harness/standIns.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { SocietyFaults } from '../society/readSociety.ts';
import { parseLetter, readLetterTexts } from './readTexts.ts';

const faultsOf = (source: string) =>
  parseLetter(source, 'confirmation').faults.map(({ line, text }) => `${line}: ${text}`);

test('a letter is read block by block', () => {
  const { letter, faults } = parseLetter(
    'Subject: Your membership\n\n{greeting}\n\nTwo lines\nof {society}.\n\n- one\n- two {email}\n\n{receipt}\n\n[Open it]({welcomePage})\n',
    'confirmation',
  );
  assert.deepEqual(faults, []);
  assert.deepEqual(letter, {
    subject: 'Your membership',
    blocks: [
      { is: 'paragraph', text: '{greeting}' },
      { is: 'paragraph', text: 'Two lines of {society}.' },
      { is: 'list', items: ['one', 'two {email}'] },
      { is: 'table', table: 'receipt' },
      { is: 'button', label: 'Open it', page: 'welcomePage' },
    ],
  });
});

for (const [what, source, fault] of [
  [
    'a placeholder that there is not',
    'Subject: A\n\nB\n\n{gretting}',
    /^5: there is no \{gretting\} in this letter. It may name \{greeting\}, /,
  ],
  ['one of another letter', 'Subject: A\n\n{daysLeft}', /^3: there is no \{daysLeft\}/],
  ['a placeholder in the subject that there is not', 'Subject: {x}\n\nB', /^1: there is no \{x\}/],
  ['no subject', 'Dear member,\n\nB', /^1: the first line must be "Subject: "/],
  ['an empty subject', 'Subject: \n\nB', /^1: the first line must be "Subject: "/],
  [
    'a page in the subject',
    'Subject: {welcomePage}\n\nB',
    /^1: a page or a table cannot stand in the subject/,
  ],
  [
    'a name in the subject, which nobody may have given',
    'Subject: {firstName}, welcome\n\nB',
    /^1: \{firstName\} cannot stand/,
  ],
  ['nothing below the subject', 'Subject: A\n', /^1: the letter says nothing/],
  [
    'two buttons',
    'Subject: A\n\n[B]({welcomePage})\n\n[C]({welcomePage})',
    /^1: a letter has one button at most/,
  ],
  [
    'a button that leads to no page',
    'Subject: A\n\n[B]({email})',
    /^3: a button leads to a page, and \{email\} is none/,
  ],
  ['a button within a sentence', 'Subject: A\n\nPress [B]({welcomePage}).', /^3: a button stands alone/],
  ['a table within a sentence', 'Subject: A\n\nSee {receipt}', /^3: a table stands alone/],
] as const)
  test(`${what} is a fault with its line`, () => {
    const faults = faultsOf(source);
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0]!, fault);
  });

test("a society's letters are read, ours for those that it has not, and all faults are told at once with their files", (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'society.yaml');
  assert.deepEqual(Object.keys(readLetterTexts(file)), [...letterKinds]);
  const letters = join(folder, 'letters');
  mkdirSync(letters);
  writeFileSync(join(letters, 'README.md'), 'Not a letter.\n');
  writeFileSync(join(letters, 'refund.md'), 'Subject: Your money\n\nIt goes back.\n');
  const { refund, portal } = readLetterTexts(file);
  assert.deepEqual([refund.subject, portal], ['Your money', readLetterTexts(societyFile).portal]);

  writeFileSync(join(letters, 'refund.md'), 'Subject: {amuont}\n\n{amont}\n');
  writeFileSync(join(letters, 'portals.md'), 'Subject: The portal\n\nIt is open.\n');
  assert.throws(
    () => readLetterTexts(file),
    (error: unknown) => {
      assert.ok(error instanceof SocietyFaults);
      assert.deepEqual(
        error.faults.map((fault) => fault.slice(letters.length + 1).replace(/ (It may|There are).*/, '')),
        [
          'portals.md: there is no such letter.',
          'refund.md:1: there is no {amuont} in this letter.',
          'refund.md:3: there is no {amont} in this letter.',
        ],
      );
      return true;
    },
  );
});
