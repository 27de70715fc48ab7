import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstNameAndInitial } from './firstNameAndInitial.ts';

const cases: [firstName: string | null, lastName: string | null, shown: string | null][] = [
  ['Jordan', 'Rivera', 'Jordan R.'],
  ['Mary Jane', 'de la Cruz', 'Mary Jane d.'],
  [' Jordan\u200b ', '\u202eRivera\n', 'Jordan R.'],
  ['Jordan', "'t Hooft", 'Jordan t.'],
  ['Łucja', 'Żak', 'Łucja Ż.'],
  ['Lucja', 'Z\u0307ak', 'Lucja Ż.'],
  ['Ana', 'R\u0330ivera', 'Ana R\u0330.'],
  ['किरण', 'क्षीरसागर', 'किरण क्षी.'],
  ['Deseret', '\u{10412}\u{10410}', 'Deseret \u{10412}.'],
  ['Jordan', '👩‍🎓 Rivera', 'Jordan R.'],
  ['Jordan', '', 'Jordan'],
  ['Jordan', null, 'Jordan'],
  ['Jordan', '12', 'Jordan'],
  ['', 'Rivera', null],
  ['\u200b', 'Rivera', null],
  [null, null, null],
];
for (const [firstName, lastName, shown] of cases)
  test(`${JSON.stringify([firstName, lastName])} is shown as ${shown}`, () =>
    assert.equal(firstNameAndInitial(firstName, lastName), shown));
