/** Returns a text in the form in which it is printed: Unicode composed, without invisible characters, one space between words. */
export function tidyText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Whether a text has only Latin characters up to U+017F. The papers' typeface has glyphs for all of them, so they need not be
 * checked.
 */
export function isPlainlyPrintable(text: string): boolean {
  return /^[ -~\u00a1-\u017f]*$/.test(text);
}
