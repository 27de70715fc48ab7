import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { cleanEmail, cleanText } from './cleanText.ts';

const ZWNJ = '\u200c';
const ZWJ = '\u200d';

/** Characters without a glyph, found by their Unicode properties. */
const unseen = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) =>
    /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffc]|(?!\s|\u0085)\p{Cc}/u.test(character),
  );

test('no character without a glyph stays between Latin letters, before or behind them, or alone', () => {
  assert.ok(unseen.length > 4000);
  for (const character of unseen) {
    const name = `U+${character.codePointAt(0)!.toString(16)}`;
    assert.equal(cleanText(`${character}A${character}n${character}`), 'An', name);
    assert.equal(cleanText(character + character), '', name);
    assert.equal(cleanEmail(`a${character}da@exam${character}ple.com${character}`), 'ada@example.com', name);
  }
});

for (const [given, clean] of [
  ['  Ada \t Lovelace\r\n', 'Ada Lovelace'],
  ['Ada\u00a0\u2009\u3000Lovelace', 'Ada Lovelace'],
  ['Ada\u2028Lovelace\u2029', 'Ada Lovelace'],
  ['\u2800\u200b ', ''],
  ['\ufeffAda', 'Ada'],
  ['Ame\u0301lie', 'Am\u00e9lie'],
  ['Ame\u200b\u0301lie', 'Am\u00e9lie'],
  ['O\u2019Brien', 'O\u2019Brien'],
  ['78701\ufe0f', '78701'],
  // Words that are written with joiners: Persian, Hindi, Malayalam, Bengali, Sinhala.
  [`می${ZWNJ}خواهم`, `می${ZWNJ}خواهم`],
  [`${ZWNJ}علی${ZWNJ}`, 'علی'],
  [`علی${ZWNJ} رضا`, 'علی رضا'],
  [`क्${ZWJ}ष`, `क्${ZWJ}ष`],
  [`किरण${ZWJ}`, 'किरण'],
  [`രമേശന്${ZWJ}`, `രമേശന്${ZWJ}`],
  [`র${ZWJ}্যাম`, `র${ZWJ}্যাম`],
  [`ශ්${ZWJ}රී`, `ශ්${ZWJ}රී`],
  [`می${ZWNJ}\u200b${ZWNJ}خواهم`, `می${ZWNJ}خواهم`],
  [`A${ZWJ}d${ZWNJ}a`, 'Ada'],
  [`김${ZWJ}민`, '김민'],
  // Emoji, and a Japanese and a Mongolian letter with a variation selector that chooses its form.
  [`👩${ZWJ}🔬 ❤\ufe0f`, `👩${ZWJ}🔬 ❤\ufe0f`],
  ['葛\u{e0100}飾', '葛\u{e0100}飾'],
  ['ᠠ\u180b', 'ᠠ\u180b'],
] as const)
  test(`${JSON.stringify(given)} is kept as ${JSON.stringify(clean)}`, () => {
    assert.equal(cleanText(given), clean);
    assert.equal(cleanText(clean), clean);
  });

for (const [given, email] of [
  ['mailto:ada@example.com', 'ada@example.com'],
  ['MailTo: ada@example.com?subject=Hello&body=x', 'ada@example.com'],
  ['mailto:ada%40example.com', 'ada@example.com'],
  ['<ada@example.com>', 'ada@example.com'],
  ['Ada Lovelace <ada@example.com>', 'ada@example.com'],
  ['"Lovelace, Ada" <mailto:ada@example.com>;', 'ada@example.com'],
  ['[ada@example.com](mailto:ada@example.com)', 'ada@example.com'],
  ['“ada@example.com”', 'ada@example.com'],
  ["'ada@example.com'", 'ada@example.com'],
  ['(ada@example.com)', 'ada@example.com'],
  ['ada@example.com;', 'ada@example.com'],
  ['ada@example.com , ', 'ada@example.com'],
  ['ada@example.com..', 'ada@example.com'],
  ['ada＠example．com', 'ada@example.com'],
  ['ada@example。com', 'ada@example.com'],
  ['ada @ example . com', 'ada@example.com'],
  ['\u202aada@example.com\u202c', 'ada@example.com'],
  ["o'brien+a?b@example.com", "o'brien+a?b@example.com"],
  // Uncertain cases are left unchanged, and the rules of the form ask the joiner about them.
  ['ada lovelace@example.com', 'ada lovelace@example.com'],
  ['ada@example.com; bob@example.com', 'ada@example.com; bob@example.com'],
  ['.ada@example..com', '.ada@example..com'],
  ['n/a', 'n/a'],
] as const)
  test(`the email ${given} is taken as ${email}`, () => {
    assert.equal(cleanEmail(given), email);
    assert.equal(cleanEmail(email), email);
  });

test('a long text made to be costly is cleaned in the time that its length needs', () => {
  const program = `
    import { cleanEmail, cleanText } from '#core/cleanText.ts';
    import { tidyPostcode } from '#core/postcode.ts';
    import { documentName } from '#documents/document.ts';
    const long = (text) => text.repeat(500_000);
    cleanText('ک' + long('${ZWJ}'));
    for (const part of ['@', ';', ' .', '](mailto:', '<']) cleanEmail('<a' + long(part) + 'b');
    tidyPostcode('1' + long('-') + 'b', { country: 'United States', state: '' });
    documentName('a' + long('.') + 'b', 'application/pdf');`;
  // The timeout ends a process that would take hours, for example if the time grows with the square of the length.
  const options = { cwd: import.meta.dirname, encoding: 'utf8', timeout: 120_000 } as const;
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], options);
  assert.deepEqual([ended.signal, ended.stderr], [null, '']);
});
