import { buffer } from 'node:stream/consumers';
import PDFDocument from 'pdfkit';
import { crest } from '#core/crest.ts';
import type { Paper } from '#core/paper.ts';
import type { Typeface } from './typeface.ts';

/** Width and height of a paper in portrait format, in points (1/72 inch). */
export const paperSizes: Record<Paper, [number, number]> = {
  letter: [612, 792],
  a4: [595.28, 841.89],
};

export const INK = '#1d1916';
export const SOFT_INK = '#5d544d';

export type Style = 'regular' | 'italic' | 'semibold';

export interface TextLook {
  style: Style;
  /** Font size in points. */
  size: number;
  color?: string;
  /** Additional space between letters (points). */
  spacing?: number;
  smallCaps?: boolean;
}

/** The methods that draw lines and shapes: the part of pdfkit that pictures implement, too. */
export interface Pen {
  lineWidth(width: number): Pen;
  rect(x: number, y: number, width: number, height: number): Pen;
  polygon(...corners: number[][]): Pen;
  moveTo(x: number, y: number): Pen;
  lineTo(x: number, y: number): Pen;
  stroke(color: string): Pen;
  fill(color: string): Pen;
}

/** A page or a picture that is being drawn. Lengths are in points; `x` and `y` are measured from the top left corner. */
export interface Drawing {
  pen: Pen;
  width: number;
  height: number;
  /** Returns the width of a line of text (points). */
  widthOf(text: string, look: TextLook): number;
  /** Draws one line of text; `y` is its baseline. */
  line(text: string, x: number, y: number, look: TextLook): void;
  centred(text: string, x: number, y: number, look: TextLook): void;
  /** Tags the output of `draw` as one paragraph or heading, for screen readers (PDF 32000-1, 14.8.4). */
  asText(draw: () => void, type?: 'P' | 'H1'): void;
  asPicture(alt: string, draw: () => void): void;
  /** Tags the output of `draw` as decoration, which screen readers skip. */
  asDecoration(draw: () => void): void;
  crest(x: number, y: number, height: number, colours: { gold: string; red: string }): void;
}

export interface Sheet extends Drawing {
  finish(): Promise<Buffer>;
}

/**
 * Starts a PDF of one page, whose embedded fonts contain only the used letters. Equal drawings give equal bytes: `date` is used as
 * the creation time, and the file's id is derived from the parameters.
 */
export function openSheet(
  typeface: Typeface,
  {
    size,
    title,
    author,
    date,
  }: { size: readonly [number, number]; title: string; author: string; date: Date },
): Sheet {
  const pdf = new PDFDocument({
    size: [...size],
    margin: 0,
    pdfVersion: '1.7',
    lang: 'en-US',
    tagged: true,
    displayTitle: true,
    info: { Title: title, Author: author, CreationDate: date, Producer: 'Induct', Creator: 'Induct' },
    // Without this option, pdfkit begins with a font that is not embedded. If it began with one of the fonts below, it would parse
    // that font anew for each line of text.
    font: null as unknown as string,
  });
  for (const style of ['regular', 'italic', 'semibold'] as const) pdf.registerFont(style, typeface[style]);
  const root = pdf.struct('Document');
  pdf.addStructure(root);
  const set = ({ style, size: points, color = INK, spacing = 0, smallCaps = false }: TextLook) => {
    pdf.font(style).fontSize(points).fillColor(color);
    // pdfkit caches the layout of words only without `features`, so `features` is set only for small capitals.
    return { lineBreak: false, characterSpacing: spacing, ...(smallCaps && { features: ['smcp' as const] }) };
  };
  const sheet: Sheet = {
    pen: pdf,
    width: size[0],
    height: size[1],
    widthOf: (text, look) => pdf.widthOfString(text, set(look)),
    line(text, x, y, look) {
      pdf.text(text, x, y, { ...set(look), baseline: 'alphabetic' });
    },
    centred(text, x, y, look) {
      sheet.line(text, x - sheet.widthOf(text, look) / 2, y, look);
    },
    asText: (draw, type = 'P') => void root.add(pdf.struct(type, {}, draw)),
    asPicture: (alt, draw) => void root.add(pdf.struct('Figure', { alt }, draw)),
    asDecoration(draw) {
      pdf.markContent('Artifact');
      draw();
      pdf.endMarkedContent();
    },
    crest(x, y, height, { gold, red }) {
      const scale = height / crest.height;
      pdf.save().translate(x, y).scale(scale);
      pdf.lineWidth(1.2).path(crest.field).fillAndStroke(red, shade(red, 0.75));
      pdf.path(crest.half).fill(gold);
      pdf.lineWidth(0.6).lineJoin('round').path(crest.star).fillAndStroke('#ffffff', shade(red, 0.75));
      pdf.restore();
    },
    async finish() {
      root.end();
      const bytes = buffer(pdf);
      pdf.end();
      return bytes;
    },
  };
  return sheet;
}

/** Returns a colour ("#RRGGBB") whose red, green and blue are multiplied by `part`. */
export function shade(colour: string, part: number): string {
  const channels = [1, 3, 5].map((start) =>
    Math.round(Number.parseInt(colour.slice(start, start + 2), 16) * part),
  );
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** Breaks a text between words into lines of at most `width` points. A word that is wider has a line of its own. */
export function wrap(sheet: Pick<Drawing, 'widthOf'>, text: string, width: number, look: TextLook): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && sheet.widthOf(longer, look) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Returns the look with its size reduced so far that the line fits into `width`. */
export function fitted(
  sheet: Pick<Drawing, 'widthOf'>,
  text: string,
  width: number,
  look: TextLook,
): TextLook {
  const wide = sheet.widthOf(text, look);
  if (wide <= width) return look;
  const part = width / wide;
  return { ...look, size: look.size * part, spacing: (look.spacing ?? 0) * part };
}
