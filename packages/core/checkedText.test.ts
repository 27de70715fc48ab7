import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChecked } from './checkedText.ts';

const ours = 'https://join.society.example';
const cases: [text: string, expected: string][] = [
  ['HONOR101', 'code HONOR101'],
  [' honor 101 ', 'code HONOR101'],
  ['ABCD-EFGH', 'code ABCDEFGH'],
  ['ABCD‑EFGH', 'code ABCDEFGH'],
  ['https://join.society.example/registration/101/init?exp=1&sig=a', 'ours /registration/101/init'],
  ['join.society.example/pay/abc', 'ours /pay/abc'],
  ['<https://join.society.example/>', 'ours /'],
  ['HTTPS://JOIN.SOCIETY.EXAMPLE/verify', 'ours /verify'],
  ['https://join-society.example/', 'elsewhere join-society.example'],
  ['https://join.society.example.evil.example/', 'elsewhere join.society.example.evil.example'],
  ['https://join.society.example@evil.example/', 'elsewhere evil.example'],
  ['https://evil@join.society.example/', 'elsewhere join.society.example'],
  ['https://join.society.example:8443/', 'elsewhere join.society.example'],
  ['javascript:alert(1)//x', 'unread'],
  ['help@society.example', 'unread'],
  ['mailto:help@society.example', 'unread'],
  ['', 'unread'],
  ['what is this?', 'unread'],
  ['http://', 'unread'],
];
for (const [text, expected] of cases)
  test(`“${text}” is read as ${expected}`, () => {
    const read = readChecked(text, ours);
    const told = {
      code: () => ` ${(read as { code: string }).code}`,
      ours: () => ` ${(read as { url: URL }).url.pathname}`,
      elsewhere: () => ` ${(read as { url: URL }).url.hostname}`,
      unread: () => '',
    };
    assert.equal(read.is + told[read.is](), expected);
  });
