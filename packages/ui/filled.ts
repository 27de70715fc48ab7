/**
 * Returns a sentence in which each `{name}` is replaced by its value: filled('Welcome, {name}.', { name: 'Jo' }) → "Welcome, Jo."
 */
export function filled(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}
