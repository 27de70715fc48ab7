/**
 * Whether a text contains an email or a name, ignoring case, but not as a part of a longer word: `ann@example.com` is not found
 * in `joann@example.com`, nor "Ann Lee" in "Joann Leeds".
 */
export function mentions(text: string, named: string): boolean {
  const escaped = named.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}._%+-])${escaped}(?![\\p{L}\\p{N}-]|\\.\\p{L})`, 'iu').test(text);
}
