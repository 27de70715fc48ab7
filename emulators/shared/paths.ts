/**
 * Matches a path against a pattern, in which `:name` and `*` stand for one segment, and a final `**` for any rest. Returns the
 * segments for which a `:name` stands; undefined if the path does not match.
 */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  const named: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    if (segment === '**' && index === wanted.length - 1) return named;
    const value = given[index];
    if (value === undefined || (segment !== '*' && !segment.startsWith(':') && segment !== value))
      return undefined;
    if (segment.startsWith(':')) {
      if (value === '') return undefined;
      named[segment.slice(1)] = decodeURIComponent(value);
    }
  }
  return given.length === wanted.length ? named : undefined;
}
