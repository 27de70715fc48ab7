import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailboxOf } from './mailbox.ts';

for (const [email, mailbox] of [
  ['Ana.Lee+a@GoogleMail.com', 'analee@gmail.com'],
  [' ana+1@school.example ', 'ana@school.example'],
  ['ana.lee@school.example', 'ana.lee@school.example'],
  ['ana+x@outlook.com', 'ana@outlook.com'],
  ['ana.lee@outlook.com', 'ana.lee@outlook.com'],
  ['ana@me.com', 'ana@icloud.com'],
  ['ana_lee.x@pm.me', 'analeex@protonmail.com'],
  ['ana-shop@yahoo.com', 'ana@yahoo.com'],
  ['ana-shop@yahoo.co.uk', 'ana@yahoo.co.uk'],
  ['an.a@protonmail.ch', 'ana@protonmail.com'],
  ['+tag@gmail.com', '+tag@gmail.com'],
  ['...@gmail.com', '...@gmail.com'],
] as const)
  test(`the mailbox of ${email} is ${mailbox}`, () => assert.equal(mailboxOf(email), mailbox));
