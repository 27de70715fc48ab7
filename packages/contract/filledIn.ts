/** Returns the path of a call with each `{name}` replaced by its parameter. */
export function filledIn(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
}
