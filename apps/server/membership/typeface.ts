import { readFile } from 'node:fs/promises';
import { fontFile, missingIn, openFont } from '../society/glyphs.ts';

export interface Typeface {
  regular: Buffer;
  italic: Buffer;
  semibold: Buffer;
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
  const font = openFont(regular);
  return { regular, italic, semibold, missing: (text) => missingIn(font, text) };
}
