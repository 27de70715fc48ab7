import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import type { Spread } from './numbers.ts';
import { type BenchmarkName, names } from './options.ts';

const HEAD = `# Results

\`npm run lab -- bench\` writes a section for each benchmark. Servers run as in production, on an embedded PostgreSQL with
\`fsync\`, beside stand-ins for providers. A floor (\`lab/bench/floor\`) is a minimal program for the same work. Figures are medians, in
brackets the least and the greatest. Rounds with other programs on over a quarter of a core do not count. Machines drift: compare ratios
of one machine and day.
`;

/** The results of a benchmark: `kept` is written to the file, `details` are printed only. */
export interface Section {
  kept: string;
  details: string;
}

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

/** Returns a section of the results. Date, machine, `how` and the verdicts are kept. */
export function section(
  title: string,
  verdicts: readonly Verdict[],
  how: string,
  ...details: readonly string[]
): Section {
  const machine = [
    new Date().toISOString().slice(0, 10),
    `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}`,
    `Node ${process.versions.node}`,
  ].join(', ');
  const lines = verdicts.map(
    ({ what, budget, measured, isMet }) =>
      `- ${what}: ${measured}; budget ${budget}${isMet ? '' : ', **missed**'}`,
  );
  return {
    kept: [`## ${title}`, `${machine}. ${how}`, lines.join('\n')].join('\n\n'),
    details: details.join('\n\n'),
  };
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
 * Writes a benchmark's section into the file, in place of the section's previous text. Keeps the other sections, and puts those of
 * benchmarks first, in their order.
 */
export function keepSection(file: string, name: BenchmarkName, text: string): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const [, ...kept] = before.split(/^(?=## )/m);
  const sections = new Map(kept.map((each) => [/^## (\w+)/.exec(each)![1]!.toLowerCase(), each]));
  sections.set(name, text);
  const bodies = [...new Set([...names, ...sections.keys()])].flatMap((each) => sections.get(each) ?? []);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, [HEAD, ...bodies.map((body) => `${body.trim()}\n`)].join('\n'));
}
