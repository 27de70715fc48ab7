/** Returns the path of a call with its parameters in the places of `{name}`. */
export function filledIn(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
}
