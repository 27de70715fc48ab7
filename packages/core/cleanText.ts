/** Any white space: spaces, tabs, line breaks, and two characters that JavaScript does not count (next line, braille blank). */
const SPACE = /[\s\u0085\u2800]+/g;
/**
 * Invisible characters other than white space: zero-width and bidirectional characters, soft hyphens, fillers, tags, variation
 * selectors and control characters, format controls of hieroglyphs, and a blank musical symbol.
 */
const UNSEEN =
  /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffc\u{13430}-\u{13442}\u{1d159}]|(?![\s\u0085])\p{Cc}/u;

/** A letter or mark of a script that writes words with joiners (U+200C, U+200D): "می‌خواهم", "क्‍ष". */
const JOINING =
  /^(?=[\p{L}\p{M}])[\p{scx=Arab}\p{scx=Syrc}\p{scx=Nko}\p{scx=Mong}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}\p{scx=Java}\p{scx=Bali}]$/u;
/** A virama. A joiner after it changes the form of its letter even at the end of a word: "രമേശന്‍". */
const VIRAMA = /^[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]$/;
const EMOJI = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;

/**
 * Returns a text from outside without invisible characters. Characters without a glyph are removed, any white space becomes one
 * space, and the result is trimmed and composed (Unicode's NFC). A joiner is kept within a word of a script that needs it, after
 * a virama, and within an emoji. A variation selector is kept after a character that it changes.
 */
export function cleanText(text: string): string {
  const visible = UNSEEN.test(text) ? withoutUnseen(text) : text;
  return visible.replace(SPACE, ' ').trim().normalize('NFC');
}

function withoutUnseen(text: string): string {
  // JavaScript counts a byte order mark as white space, so invisible characters are removed first.
  const characters = [...text];
  const isUnseen = characters.map((character) => UNSEEN.test(character));
  /** For each character, the next one with a glyph; empty if there is none. */
  const after: string[] = [];
  for (let index = characters.length - 1, next = ''; index >= 0; index--) {
    after[index] = next;
    if (!isUnseen[index]) next = characters[index]!;
  }
  const kept: string[] = [];
  characters.forEach((character, index) => {
    if (!isUnseen[index] || isSensible(character, kept.at(-1) ?? '', after[index]!)) kept.push(character);
  });
  return kept.join('');
}

/** Whether a character that has no glyph itself changes how the characters around it look. */
function isSensible(character: string, before: string, after: string): boolean {
  if (character === '\u200c' || character === '\u200d')
    return (
      (JOINING.test(before) && JOINING.test(after)) ||
      (character === '\u200d' &&
        (VIRAMA.test(before) || (EMOJI.test(before) && /^\p{Extended_Pictographic}$/u.test(after))))
    );
  if (/^[\u180b-\u180d\u180f]$/.test(character)) return /^\p{Script=Mongolian}$/u.test(before);
  if (!/^\p{Variation_Selector}$/u.test(character)) return false;
  return (
    /^\p{Script=Han}$/u.test(before) ||
    (character === '\ufe0f' && /^\p{Extended_Pictographic}$/u.test(before))
  );
}

/**
 * Returns a text without the characters that a terminal or a spreadsheet interprets: control characters, line breaks and
 * bidirectional controls.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '');
}

/** Returns what {@link plain} does, but keeps the line breaks and tabs of a text of several lines. */
export function plainLines(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '');
}

/**
 * Returns an email from outside without what surrounds it in mails and address books: `mailto:` with its query, a name before
 * `<…>`, quotes, brackets, and punctuation around it. Full-width characters become ASCII. Spaces around the at sign and around
 * the dots of the domain are removed. "Ada <mailto:ada@example.com?subject=Hi>;" → "ada@example.com"
 */
export function cleanEmail(text: string): string {
  let email = cleanText(text.normalize('NFKC')).replace(/[。｡]/g, '.');
  email = /<([^<>@]*@[^<>]*)>/.exec(email)?.[1] ?? /\]\((mailto:[^()]*)\)/i.exec(email)?.[1] ?? email;
  const unwrap = () => /^[\s"'`“”„‘’‚«»‹›<([{,;:]*(.*[^\s"'`“”„‘’‚«»‹›>)\]},;:.])?/s.exec(email)?.[1] ?? '';
  email = unwrap();
  const mailto = /^(?:mailto:\s*)+(?:\/\/)?/i.exec(email);
  if (mailto) {
    email = email.slice(mailto[0].length).replace(/\?.*$/, '').replace(/%40/i, '@');
    email = unwrap();
  }
  return email.replace(/\s*@\s*/, '@').replace(/(@.*)$/, (domain) => domain.replace(/\s*\.\s*/g, '.'));
}
