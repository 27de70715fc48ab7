import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameForLetter } from './letterName.ts';

for (const name of [
  ...[
    'Ann',
    'J.R.',
    'J. R.',
    'Zoë',
    'Mary-Ann',
    "D'Arcy",
    'D’Arcy',
    'Nguyễn Văn',
    'Maria del Carmen',
    'Jr.',
    'Is',
  ],
  ...[
    'Kaʻiulani',
    'किरण',
    'Łucja',
    'Анна-Мария',
    '李小龙',
    'マリー',
    '지민',
    'สมชาย',
    'محمد',
    'יוסף',
    'Ἑλένη',
    'Will',
    'Win',
  ],
  ...['Juan de la Cruz', 'Abdel-Rahman', '欧阳娜娜', '八千代', 'ann', 'St. John'],
])
  test(`"${name}" is printed as a name`, () => assert.equal(nameForLetter(name), name));

for (const text of [
  'Your account is locked call 1-800-555-0100',
  ...['You won', 'Click here', 'Verify your account', 'Please call us', 'Pay at the door tonight'],
  ...[
    'evil.com',
    'evil․com',
    'evil。com',
    'evil｡com',
    'evil．com',
    'evil﹒com',
    'evilꓸcom',
    'evilᐧcom',
    'evil·com',
  ],
  ...[
    'evil‧com',
    'evil٠com',
    'evil・com',
    'ｅｖｉｌ．ｃｏｍ',
    'Ann evil.com',
    'evil . com',
    'J.com',
    'evil ․com',
    'еvil',
  ],
  ...[
    'http://x',
    'www.x',
    'x/y',
    'a@b',
    'a＠b',
    'a:b',
    'evil[.]com',
    'evil\\x',
    'evil,com',
    'evil dot com now',
  ],
  ...[
    'Send money today',
    'Refund pending',
    'Go to Evil',
    'Dear Customer',
    'Ihr Konto gesperrt',
    'Su Cuenta Bloqueada',
  ],
  ...[
    'Ваш счет заблокирован',
    '您的账户已被锁定',
    'evil-com',
    'Evil Dot Com',
    'evilꞏcom',
    'evil\u{1d16d}com',
    'evilǃ',
  ],
  ...['One Eight Hundred', 'five-five', '八零零', '六六六', 'Ⅷ', `Z${'\u0300'.repeat(9)}`],
  ...['18005550100', '1-800-555-0100', '+1 (800) 555', '１８００', '①②③', 'Ann 5', '٠١٢٣', '८००', 'Ann2'],
  ...[
    'x'.repeat(41),
    'Youraccountislockedforever',
    '您的账户已被锁定请立即致电客服',
    '',
    ' ',
    '<b>Ann</b>',
    '"Ann"',
    '😀',
  ],
])
  test(`"${text}" is not printed as a name`, () => assert.equal(nameForLetter(text), null));

test('what nobody sees of a name is not printed', () => {
  assert.equal(nameForLetter('A\u001bn\u202en\u0000\r\n'), 'Ann');
});
