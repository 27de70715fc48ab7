import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { Spread } from './numbers.ts';
import { type BenchmarkName, names } from './options.ts';

const HEAD = `# Results

Written by \`npm run bench\`, each section by its own benchmark, on the machine and day that it names. What is measured and how:
[docs/performance.md](../docs/performance.md). Compare ratios, never absolute figures: machines drift.
`;

/** A budget and whether it was met. */
export interface Verdict {
  what: string;
  budget: string;
  measured: string;
  isMet: boolean;
}

export function atMost(what: string, most: number, measured: Spread): Verdict {
  return { what, budget: `≤ ${figure(most)}`, measured: spread(measured), isMet: measured.median <= most };
}

export function atLeast(what: string, least: number, measured: Spread): Verdict {
  return { what, budget: `≥ ${figure(least)}`, measured: spread(measured), isMet: measured.median >= least };
}

/** Returns a section of the results: date and machine, the verdicts, then paragraphs and tables. */
export function section(title: string, verdicts: readonly Verdict[], ...rest: readonly string[]): string {
  const machine = [
    new Date().toISOString().slice(0, 10),
    `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `${process.platform} ${release().split('-')[0]}`,
    `Node ${process.versions.node}`,
  ].join(', ');
  const rows = verdicts.map(({ what, budget, measured, isMet }) => [
    what,
    budget,
    measured,
    isMet ? 'met' : '**missed**',
  ]);
  return [`## ${title}`, machine, table(['Budget', '', 'measured', ''], rows), ...rest].join('\n\n');
}

/** Returns a Markdown table. The first column is text, the others are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = `|${head.map((_, index) => (index === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/**
 * Returns a number with three significant digits, but with at most four decimals, and with all digits before the decimal point:
 * 0.0123, 1.23, 12.3, 1234.
 */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(4, digits));
}

/** Returns the median, followed by the minimum and maximum in brackets when there are several values. */
export function spread({ median, min, max, count }: Spread): string {
  return count > 1 ? `${figure(median)} (${figure(min)}–${figure(max)})` : figure(median);
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

/**
 * Writes a benchmark's section into the file, in place of the section's previous text. Keeps the other sections, and puts all in
 * the order of the benchmarks.
 */
export function keepSection(file: string, name: BenchmarkName, text: string): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const sections = new Map(
    [...before.matchAll(/<!-- (\w+) -->\n([\s\S]*?)\n<!-- \/\1 -->/g)].map(([, key, body]) => [key!, body!]),
  );
  sections.set(name, text.trim());
  const bodies = names.flatMap((each) => {
    const body = sections.get(each);
    return body === undefined ? [] : [`<!-- ${each} -->\n${body}\n<!-- /${each} -->\n`];
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, [HEAD, ...bodies].join('\n'));
}
