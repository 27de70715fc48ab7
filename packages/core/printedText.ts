/** A text as it is set: accents composed, no invisible characters, one space between words. */
export function tidyText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Letters that the papers' typeface has for certain, so that nobody needs to look: Latin with most accents. */
export function isPlainlyPrintable(text: string): boolean {
  return /^[ -~\u00a1-\u017f]*$/.test(text);
}
