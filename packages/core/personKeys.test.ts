import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emailKey, likenessOf, nameKey, searchKeys, searchWords } from './personKeys.ts';

for (const [one, other] of [
  ["O'Brien", 'O’Brien'],
  ["O'Brien", 'OBRIEN'],
  ["O'Brien", 'O`Brien'],
  ["O'Brien", 'O´Brien'],
  ["O'Brien", 'Oʼ Brien'],
  ['D`Angelo', 'D´Angelo'],
  ['José', 'Jose'],
  ['José', 'Jose\u0301'],
  ['ＪＯＳＥ', 'jose'],
  ['Núñez', 'Nunez'],
  ['Łuczak', 'Luczak'],
  ['Søren', 'Soren'],
  ['Đặng', 'Dang'],
  ['Straßer', 'STRASSER'],
  ['Æsir', 'Aesir'],
  ['Œuvrard', 'oeuvrard'],
  ['Þór', 'Thor'],
  ['İpek', 'Ipek'],
  ['Işık', 'isik'],
  ['IŞIK', 'ışık'],
  ['Nguyễn', 'nguyen'],
  ['Mary  Ann', 'Mary-Ann'],
  ['Mary\u00a0Ann', 'Mary Ann'],
  ['De  La   Cruz', 'dela cruz'],
  ['Smith-Jones', 'Smith−Jones'],
  ['Smith–Jones', 'Smith Jones'],
  ['Smith, Jr.', 'Smith Jr'],
  ['Al‑Amin', 'Al-Amin'],
  ['Ga\u00adrcia', 'Garcia'],
  ['Ri\u200bvera', 'Ｒｉｖｅｒａ'],
  ['Ковалёв', 'Ковалев'],
  ['Йорданов', 'Иорданов'],
  ['Ӑндрей', 'Андреи'],
  ['Παπαδόπουλος', 'ΠΑΠΑΔΟΠΟΥΛΟΣ'],
  ['Keʻala', "Ke'ala"],
  ['ｶﾞ', 'ガ'],
  ['김철수', '김철수'.normalize('NFD')],
] as const)
  test(`the names ${one} and ${other} are alike`, () => {
    assert.equal(nameKey(one), nameKey(other));
    assert.notEqual(nameKey(one), '');
  });

for (const [one, other] of [
  ['किरण', 'करण'],
  ['が', 'か'],
  ['مُحَمَّد', 'حمد'],
  ['Sam', 'Sami'],
  ['Иван', 'Ivan'],
  ['กำ', 'กา'],
] as const)
  test(`the names ${one} and ${other} are not alike`, () => assert.notEqual(nameKey(one), nameKey(other)));

test('a name of spaces, punctuation or characters that nobody sees has no key, and is like nobody', () => {
  for (const name of ['', ' ', "'", '--', '\u200b', '\u00ad', '.', '“”', '´'])
    assert.equal(nameKey(name), '', JSON.stringify(name));
  assert.equal(likenessOf({ email: 'a@example.com', firstName: '-', lastName: 'Rivera' }), null);
});

test('a key of a key is the key', () => {
  for (const name of ['O’Brien', 'Straßer', 'İpek', 'Παπαδόπουλος', 'が', 'किरण'])
    assert.equal(nameKey(nameKey(name)), nameKey(name));
});

test('emails are alike in whatever case, and without what surrounds them', () => {
  for (const email of [
    'Ada@Example.com',
    ' ada@example.com ',
    'mailto:ada@example.com',
    'Ada <ada@example.com>',
  ])
    assert.equal(emailKey(email), 'ada@example.com');
  assert.notEqual(emailKey('a.da@example.com'), emailKey('ada@example.com'));
});

test('first and last name are compared apart, and the personal email goes before the contact’s', () => {
  const of = (firstName: string, lastName: string) =>
    likenessOf({ email: 'a@example.com', firstName, lastName });
  assert.notEqual(of('Ann', 'Marie Lee'), of('Ann Marie', 'Lee'));
  assert.equal(of('Ann Marie', 'Lee'), of('Annmarie', 'LEE'));
  assert.equal(
    likenessOf({
      personalEmail: 'a@example.com',
      email: 'b@example.com',
      firstName: 'Ann Marie',
      lastName: 'Lee',
    }),
    of('Ann Marie', 'Lee'),
  );
});

const isFound = (text: string, ...known: Parameters<typeof searchWords>) =>
  searchKeys(text).length > 0 &&
  searchKeys(text).every((keys) => keys.some((key) => searchWords(...known).includes(key)));

test('a person is found by any part of a name or an email, however it is typed', () => {
  const person = { firstName: 'Zoë', lastName: 'O’Neill-Straßer', personalEmail: 'Zoe.Oneill@Example.com' };
  for (const text of [
    'zoe',
    'ZOË',
    "o'neill",
    'strasser',
    'neill zoe',
    'eill',
    'zoe.oneill@',
    'example.com',
    'Zoë O',
  ])
    assert.equal(isFound(text, person), true, text);
  for (const text of ['oneal', 'zoe q', 'xzoe', "'", '%', ''])
    assert.equal(isFound(text, person), false, text);
  assert.equal(isFound('muller nunez', { firstName: 'Núñez' }, { lastName: 'Müller' }), true);
});

test('the words of a person are each there once, and a name that is a part of an email is found by it', () => {
  assert.equal(
    searchWords(
      { firstName: 'Ada', lastName: 'Byron', personalEmail: 'A.Byron@example.com' },
      { firstName: 'Ada', email: 'byron@example.com', schoolEmail: 'byron@school.example' },
    ),
    'ada a.byron@example.com byron@school.example byron@example.com',
  );
});
