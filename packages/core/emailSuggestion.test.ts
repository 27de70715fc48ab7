import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emailSuggestion } from './emailSuggestion.ts';

for (const [typed, meant] of [
  ['ada@gmial.com', 'ada@gmail.com'],
  ['ada@gmal.com', 'ada@gmail.com'],
  ['ada@gmaill.com', 'ada@gmail.com'],
  ['ada@gnail.com', 'ada@gmail.com'],
  ['ada@gmail.con', 'ada@gmail.com'],
  ['ada@gmail.co', 'ada@gmail.com'],
  ['Ada.B@Yaho.com', 'Ada.B@yahoo.com'],
  ['ada@hotmial.com', 'ada@hotmail.com'],
  ['ada@outlok.com', 'ada@outlook.com'],
  ['ada@iclould.com', 'ada@icloud.com'],
  ['ada@gmail,com', 'ada@gmail.com'],
  ['ada@lincoln.eud', 'ada@lincoln.edu'],
  ['ada@gmail.com.', 'ada@gmail.com'],
] as const)
  test(`${typed} was probably meant as ${meant}`, () => {
    assert.equal(emailSuggestion(typed), meant);
  });

for (const typed of [
  'ada@gmail.com',
  'ADA@GMAIL.COM',
  'ada@mail.com',
  'ada@ymail.com',
  'ada@me.com',
  'ada@yahoo.ca',
  'ada@lincoln.edu',
  'ada@school.k12.tx.us',
  'ada@example.com',
  'ada@fme.com',
  'ada@',
  'ada',
  '',
  'two@signs@gmial.com',
])
  test(`nothing is suggested for "${typed}"`, () => {
    assert.equal(emailSuggestion(typed), null);
  });
