import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { create as Create, Font } from 'fontkit';
import { isPlainlyPrintable } from '#core/printedText.ts';

/**
 * The fonts of the papers: EB Garamond (SIL Open Font License) with all accented Latin letters, Vietnamese, Greek and Cyrillic.
 */
const PACKAGE = '@expo-google-fonts/eb-garamond';
const STYLES = { regular: '400Regular', italic: '400Regular_Italic', semibold: '600SemiBold' } as const;
export type FontStyle = keyof typeof STYLES;

// Packages are resolved from the folder of this file or of the built server.
const packages = createRequire(join(import.meta.dirname, 'glyphs.ts'));

/** Returns the path of a font of the papers. */
export function fontFile(style: FontStyle): string {
  const name = STYLES[style];
  return packages.resolve(`${PACKAGE}/${name}/EBGaramond_${name}.ttf`);
}

/** Parses a font. The library is loaded at the first call, since most servers need it only on the printer's thread. */
export function openFont(bytes: Buffer): Font {
  const { create } = packages('fontkit') as { create: typeof Create };
  const font = create(bytes);
  if (!('hasGlyphForCodePoint' in font)) throw new Error(`${PACKAGE} is a collection of fonts.`);
  return font;
}

/** Returns the letters of a text that a font lacks, or whose accents the font cannot position, each once. */
export function missingIn(font: Font, text: string): string[] {
  return [...new Set(text.match(/\P{M}?\p{M}+|\P{M}/gu)?.flatMap((letter) => missingOf(font, letter)))];
}

function missingOf(font: Font, letter: string): string[] {
  const absent = [...letter].filter((character) => !font.hasGlyphForCodePoint(character.codePointAt(0)!));
  if (absent.length > 0 || letter.length === 1) return absent;
  // If an accent has zero offsets, the font has no position for it on this letter, and it would be drawn next to the letter.
  const [, ...accents] = font.layout(letter).positions;
  return accents.some(({ xOffset, yOffset }) => xOffset === 0 && yOffset === 0) ? [letter] : [];
}

const opened = new Map<FontStyle, Font>();

/**
 * Returns the letters of a text that the papers cannot show in a style. Reads the font only if the text has unusual characters.
 */
export function unprintableIn(text: string, style: FontStyle): string[] {
  if (isPlainlyPrintable(text)) return [];
  const font = opened.get(style) ?? openFont(readFileSync(fontFile(style)));
  opened.set(style, font);
  return missingIn(font, text);
}
