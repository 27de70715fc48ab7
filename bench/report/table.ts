import type { Spread } from '../accounting/numbers.ts';

/** A Markdown table; the first column is text, the others are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    `|${head.map((_, index) => (index === 0 ? '---' : '--:')).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

/** Three digits that count: 0.0123, 1.23, 12.3, 1234. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(4, digits));
}

/** The median, with the smallest and the largest in brackets when there are several. */
export function spread({ median, min, max, count }: Spread): string {
  return count > 1 ? `${figure(median)} (${figure(min)}–${figure(max)})` : figure(median);
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
