import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameForLetter } from './letterName.ts';

const names = `Ann|J.R.|J. R.|Zoë|Mary-Ann|D'Arcy|D’Arcy|Nguyễn Văn|Maria del Carmen|Jr.|Is|Will|Win|Kaʻiulani|किरण|Łucja
Анна-Мария|李小龙|マリー|지민|สมชาย|محمد|יוסף|Ἑλένη
Juan de la Cruz|Abdel-Rahman|欧阳娜娜|八千代|ann|St. John`;
for (const name of names.split(/[|\n]/))
  test(`"${name}" is printed as a name`, () => assert.equal(nameForLetter(name), name));

/** Sentences, addresses, links, numbers, and texts that are too long for a name. */
const others = `Your account is locked call 1-800-555-0100|You won|Click here|Verify your account|Please call us
Pay at the door tonight|Youraccountislockedforever|您的账户已被锁定请立即致电客服|evil dot com now
evil.com|evil․com|evil。com|evil｡com|evil．com|evil﹒com|evilꓸcom|evilᐧcom|evil·com|evil‧com|evil٠com|evil・com|ｅｖｉｌ．ｃｏｍ
Ann evil.com|evil . com|J.com|evil ․com|еvil|evil[.]com|evil\\x|evil,com|http://x|www.x|x/y|a@b|a＠b|a:b
18005550100|1-800-555-0100|+1 (800) 555|１８００|①②③|Ann 5|٠١٢٣|८००|Ann2|<b>Ann</b>|"Ann"|😀
Send money today|Refund pending|Go to Evil|Dear Customer|Ihr Konto gesperrt|Su Cuenta Bloqueada|Ваш счет заблокирован|您的账户已被锁定
evil-com|Evil Dot Com|evilꞏcom|evil\u{1d16d}com|evilǃ|One Eight Hundred|five-five|八零零|六六六|Ⅷ`;
for (const text of [...others.split(/[|\n]/), `Z${'\u0300'.repeat(9)}`, 'x'.repeat(41), '', ' '])
  test(`"${text}" is not printed as a name`, () => assert.equal(nameForLetter(text), null));

test('what nobody sees of a name is not printed', () => {
  assert.equal(nameForLetter('A\u001bn\u202en\u0000\r\n'), 'Ann');
});
