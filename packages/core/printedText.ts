/** Returns a text as it is printed: accents composed, no invisible characters, one space between words. */
export function tidyText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Whether all letters are Latin with common accents. The papers' typeface is certain to have these, so its glyphs need not be
 * checked.
 */
export function isPlainlyPrintable(text: string): boolean {
  return /^[ -~\u00a1-\u017f]*$/.test(text);
}
