import { readFile } from 'node:fs/promises';
import type { Font } from 'fontkit';
import { type FontStyle, fontFile, missingIn, openFont } from '../society/glyphs.ts';

export interface Typeface {
  regular: Buffer;
  italic: Buffer;
  semibold: Buffer;
  /** Returns a font, parsed. */
  font(style: FontStyle): Font;
  /** Returns the letters of a text that the typeface lacks, or whose accents the typeface cannot position, each once. */
  missing(text: string): string[];
}

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
  const [regular, italic, semibold] = await Promise.all([
    readFile(fontFile('regular')),
    readFile(fontFile('italic')),
    readFile(fontFile('semibold')),
  ]);
  const files = { regular, italic, semibold };
  const parsed: Partial<Record<FontStyle, Font>> = {};
  const font = (style: FontStyle) => (parsed[style] ??= openFont(files[style]));
  return { ...files, font, missing: (text) => missingIn(font('regular'), text) };
}
