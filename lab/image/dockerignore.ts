/**
 * Whether .dockerignore excludes a path of the build context. Of the patterns that match the path or a folder above it, the last
 * one decides.
 */
export function isIgnored(path: string, ignoreFile: string): boolean {
  const parts = path.split('/');
  const above = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  return ignoreFile
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .reduce((ignored, line) => {
      const isException = line.startsWith('!');
      const pattern = asRegExp(isException ? line.slice(1) : line);
      return above.some((each) => pattern.test(each)) ? !isException : ignored;
    }, false);
}

/**
 * Returns a pattern of .dockerignore as a regular expression. Such a pattern is relative to the build context and may contain `*`,
 * `?` and `**`, which also match a leading dot.
 */
function asRegExp(pattern: string): RegExp {
  const parts = { '**/': '(?:.*/)?', '*': '[^/]*', '?': '[^/]' };
  const expression = pattern.replaceAll(
    /\*\*\/|[*?]|[.+^${}()|[\]\\]/g,
    (part) => parts[part as keyof typeof parts] ?? `\\${part}`,
  );
  return new RegExp(`^${expression}$`);
}
