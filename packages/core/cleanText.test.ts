import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanText } from './cleanText.ts';

test('what nobody sees goes, white space becomes one space, and what a script needs stays', () => {
  for (const [typed, expected] of [
    ['\ufeffHONOR101\u200b', 'HONOR101'],
    ['HON\u00adOR\u2060101', 'HONOR101'],
    ['\u202aada@example.com\u202c', 'ada@example.com'],
    ['\u2067Ada\u2069\u200e\u200f', 'Ada'],
    ['\u00a0Ada\u202f \u3000Byron\u2003', 'Ada Byron'],
    ['Ada\tByron\r\n', 'Ada Byron'],
    ['A\0d\u007fa\u009d', 'Ada'],
    ['A\u200dda\u200c\ufe0f', 'Ada'],
    ['\u115f\u3164\u2800\u180e', ''],
    ['Ame\u0301lie', 'Am\u00e9lie'],
    ['می\u200cخواهم', 'می\u200cخواهم'],
    ['क्\u200dष', 'क्\u200dष'],
    ['葛\u{e0100}城', '葛\u{e0100}城'],
    ["O'Neill-Šťastný", "O'Neill-Šťastný"],
  ] as const)
    assert.equal(cleanText(typed), expected, JSON.stringify(typed));
});
