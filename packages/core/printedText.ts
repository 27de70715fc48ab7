/**
 * Whether a text has only Latin characters up to U+017F, without superscript digits, and usual quotes and dashes. All fonts of the
 * papers have glyphs for these, so they need not be checked.
 */
export function isPlainlyPrintable(text: string): boolean {
  return /^[ -~\u00a1-\u00b1\u00b4-\u00b8\u00ba-\u017f\u2013\u2014\u2018-\u201a\u201c-\u201e\u2026]*$/.test(
    text,
  );
}
