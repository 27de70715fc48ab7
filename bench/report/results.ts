import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type BenchmarkName, names } from '../options.ts';

const HEAD = `# Results

Written by \`npm run bench\`; each section by its own benchmark, on the machine that it names. What is measured and how is in
[docs/performance.md](../docs/performance.md). Compare ratios, never absolute figures: machines drift.
`;

/** Puts a section into the file in the order of the benchmarks, in place of the one that was there. The others stay. */
export function keepSection(file: string, name: BenchmarkName, text: string): void {
  const sections = sectionsOf(existsSync(file) ? readFileSync(file, 'utf8') : '');
  sections.set(name, text.trim());
  const bodies = names.flatMap((each) => {
    const body = sections.get(each);
    return body === undefined ? [] : [`<!-- ${each} -->\n${body}\n<!-- /${each} -->\n`];
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, [HEAD, ...bodies].join('\n'));
}

function sectionsOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/<!-- (\w+) -->\n([\s\S]*?)\n<!-- \/\1 -->/g)].map((match) => [match[1]!, match[2]!]),
  );
}
