import { type Drawing, fitted, type Style, type TextLook } from './sheet.ts';

const STYLE: Style = 'regular';
/**
 * The minimum font size of a name on one line and on two lines, as a fraction of `largest`. A name that would be smaller gets one
 * line more.
 */
const LEAST = [0.6, 0.42];
/** The maximum font size of a name on one, two and three lines, as a fraction of `largest`. */
const MOST = [1, 0.7, 0.5];

export interface FittedName {
  lines: string[];
  /** Font size in points. */
  size: number;
}

/**
 * Fits a name into `width` at the largest possible font size. A name that would be small on one line is broken between words into
 * two or three lines of similar width. A single long word becomes as small as necessary.
 */
export function fitName(
  sheet: Pick<Drawing, 'widthOf'>,
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

/**
 * The minimum font size of a title on one line, and its maximum on two lines, as a fraction of the font size of its {@link
 * TextLook}.
 */
const TITLE_LEAST = 0.75;
const TITLE_MOST = 0.85;

/**
 * Fits a title into `width`, such as the society's name. A title that would be small on one line is broken between words into two
 * lines of similar width.
 */
export function fitTitle(
  sheet: Pick<Drawing, 'widthOf'>,
  title: string,
  width: number,
  look: TextLook,
): { lines: string[]; look: TextLook } {
  const whole = fitted(sheet, title, width, look);
  const words = title.split(' ');
  if (whole.size >= look.size * TITLE_LEAST || words.length === 1) return { lines: [title], look: whole };
  const widthOf = (text: string) => sheet.widthOf(text, look);
  const lines = breakEvenly(words, 2, widthOf);
  const part = Math.min(TITLE_MOST, width / Math.max(...lines.map(widthOf)));
  return { lines, look: { ...look, size: look.size * part, spacing: (look.spacing ?? 0) * part } };
}

/** Breaks words into `count` lines such that the widest line is as narrow as possible. */
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
