import type { Sheet, Style } from './sheet.ts';

const STYLE: Style = 'regular';
/** The least size of a name on one line and on two, as a part of the largest, before it is broken once more. */
const LEAST = [0.6, 0.42];
/** The largest size on one line, two and three, as a part of the largest. */
const MOST = [1, 0.7, 0.5];

export interface FittedName {
  lines: string[];
  /** Points. */
  size: number;
}

/**
 * How a name stands within `width`: as large as it can on one line; when that would make it small, broken between words into
 * two lines or three of about the same width. Never wider than `width`: a single endless word is set as small as it must.
 */
export function fitName(
  sheet: Pick<Sheet, 'widthOf'>,
  name: string,
  width: number,
  largest: number,
): FittedName {
  const words = name.split(' ');
  const widthAtLargest = (text: string) => sheet.widthOf(text, { style: STYLE, size: largest });
  const tried: FittedName[] = [];
  for (let count = 1; count <= Math.min(MOST.length, words.length); count++) {
    const lines = breakEvenly(words, count, widthAtLargest);
    const widest = Math.max(...lines.map(widthAtLargest));
    const size = largest * Math.min(MOST[count - 1]!, width / widest);
    tried.push({ lines, size });
    if (size >= largest * (LEAST[count - 1] ?? 0)) break;
  }
  return tried.reduce((best, next) => (next.size > best.size ? next : best));
}

/** Words in `count` lines whose widest is as narrow as can be. */
export function breakEvenly(
  words: readonly string[],
  count: number,
  widthOf: (text: string) => number,
): string[] {
  if (count === 1) return [words.join(' ')];
  const widths = words.map((word) => widthOf(`${word} `));
  const sum = (from: number, to: number) => widths.slice(from, to).reduce((total, width) => total + width, 0);
  let best: { widest: number; ends: number[] } = { widest: Number.POSITIVE_INFINITY, ends: [] };
  const tryEnds = (ends: number[], widest: number) => {
    const from = ends.at(-1) ?? 0;
    if (ends.length === count - 1) {
      const whole = Math.max(widest, sum(from, words.length));
      if (whole < best.widest) best = { widest: whole, ends: [...ends, words.length] };
      return;
    }
    for (let end = from + 1; end <= words.length - (count - 1 - ends.length); end++)
      tryEnds([...ends, end], Math.max(widest, sum(from, end)));
  };
  tryEnds([], 0);
  return best.ends.map((end, index) => words.slice(best.ends[index - 1] ?? 0, end).join(' '));
}
