import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { create } from 'fontkit';
import { serverFolder } from '../platform/serverFolder.ts';

/** The fonts of the papers: EB Garamond (SIL Open Font License) with all accented Latin letters, Vietnamese, Greek and Cyrillic. */
export interface Typeface {
  regular: Buffer;
  italic: Buffer;
  semibold: Buffer;
  /** Returns the letters of a text that the typeface lacks, or whose accents the typeface cannot position, each once. */
  missing(text: string): string[];
}

const PACKAGE = '@expo-google-fonts/eb-garamond';
let opened: Promise<Typeface> | undefined;

/** Reads the fonts at the first call, and keeps them in memory (1.4 MB). */
export function openTypeface(): Promise<Typeface> {
  opened ??= open().catch((error) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function open(): Promise<Typeface> {
  // Resolves packages from apps/server, because the built server's module is in another folder than this file.
  const packages = createRequire(join(serverFolder, 'main.ts'));
  const [regular, italic, semibold] = await Promise.all(
    ['400Regular', '400Regular_Italic', '600SemiBold'].map((style) =>
      readFile(packages.resolve(`${PACKAGE}/${style}/EBGaramond_${style}.ttf`)),
    ),
  );
  const font = create(regular!);
  if (!('hasGlyphForCodePoint' in font)) throw new Error(`${PACKAGE} is a collection of fonts.`);
  const missingOf = (letter: string): string[] => {
    const absent = [...letter].filter((character) => !font.hasGlyphForCodePoint(character.codePointAt(0)!));
    if (absent.length > 0 || letter.length === 1) return absent;
    // An accent with zero offsets has no anchor on its letter, and would be drawn beside the letter.
    const [, ...accents] = font.layout(letter).positions;
    return accents.some(({ xOffset, yOffset }) => xOffset === 0 && yOffset === 0) ? [letter] : [];
  };
  return {
    regular: regular!,
    italic: italic!,
    semibold: semibold!,
    missing: (text) => [
      ...new Set(text.match(/\P{M}?\p{M}+|\P{M}/gu)?.flatMap((letter) => missingOf(letter))),
    ],
  };
}
