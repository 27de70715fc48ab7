/**
 * Whether a text names an email or a person: as a whole and in any case, not as a part of a longer one, as `ann@example.com` is of
 * `joann@example.com` and "Ann Lee" of "Joann Leeds".
 */
export function mentions(text: string, named: string): boolean {
  const escaped = named.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}._%+-])${escaped}(?![\\p{L}\\p{N}-]|\\.\\p{L})`, 'iu').test(text);
}
