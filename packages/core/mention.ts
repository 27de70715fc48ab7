/**
 * Whether a text names an email or a person, in any case, as a whole word: `ann@example.com` does not match inside
 * `joann@example.com`, nor "Ann Lee" inside "Joann Leeds".
 */
export function mentions(text: string, named: string): boolean {
  const escaped = named.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}._%+-])${escaped}(?![\\p{L}\\p{N}-]|\\.\\p{L})`, 'iu').test(text);
}
