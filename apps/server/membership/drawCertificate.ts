import { correction, generate } from 'lean-qr';
import type { Paper } from '#core/paper.ts';
import { breakEvenly, fitName, fitTitle } from './fitName.ts';
import { openPicture } from './pictureSheet.ts';
import {
  type Drawing,
  fitted,
  INK,
  openSheet,
  paperSizes,
  SOFT_INK,
  shade,
  type TextLook,
  wrap,
} from './sheet.ts';
import type { Typeface } from './typeface.ts';

export interface Certificate {
  society: string;
  colours: { gold: string; red: string };
  /** The member's name after `cleanText`. The typeface must have all of its characters. */
  name: string;
  /** The text after the name, about the member's achievement. */
  citation: string;
  programme: string;
  /** What an upgrade adds, such as "Distinguished Member"; null without an upgrade. */
  distinction: string | null;
  /** The date of admission: "November 23, 2026". */
  since: string;
  /** The creation date in the PDF. */
  sinceTime: Date;
  /** The member number as it is displayed: "7K3M-9QXR". */
  number: string;
  verifyUrl: string;
  signatures: readonly { title: string; name?: string | undefined }[];
}

/** The distance of the frame from the edge of the paper, in points on Letter. On A4 all lengths are scaled down a little. */
const FRAME = 32;
const PAPER_WHITE = '#fdfbf4';

/** Draws the certificate as a PDF of one landscape page. Equal certificates give equal bytes. */
export async function drawCertificate(
  typeface: Typeface,
  certificate: Certificate,
  paper: Paper,
): Promise<Buffer> {
  const [short, long] = paperSizes[paper];
  const sheet = openSheet(typeface, {
    size: [long, short],
    title: `Certificate of ${certificate.name}`,
    author: certificate.society,
    date: certificate.sinceTime,
  });
  drawOn(sheet, certificate);
  return sheet.finish();
}

/** The size of the picture, in points. */
const PICTURE = [480, 360] as const;

/**
 * Draws a small picture of the certificate, as SVG: the society, name, programme, distinction, date of admission and member
 * number.
 */
export function drawPicture(typeface: Typeface, certificate: Certificate): string {
  const sheet = openPicture(typeface, PICTURE);
  drawPictureOn(sheet, certificate);
  return sheet.finish();
}

interface Block {
  /** The block's height above its first baseline, and below its last baseline. */
  above: number;
  below: number;
  draw(baseline: number): void;
}

function drawOn(sheet: Drawing, certificate: Certificate): void {
  const { name, citation, programme, distinction, since, number, colours } = certificate;
  const { unit, middle, inside, lines, one, titled, ornament } = begin(sheet, certificate, 70);
  /** Returns the texts as blocks. `points` is the unit of their font sizes. */
  const blocks = (points: number): Block[] => {
    const fit = fitName(sheet, name, inside, 56 * points);
    const body: TextLook = { style: 'regular', size: 15.5 * points };
    const cited = wrap(sheet, citation, Math.min(inside, 560 * unit), body).length;
    const widthOf = (text: string) => sheet.widthOf(text, body);
    return [
      titled(certificate.society, capitals(27 * points, 1.6 * points), 'H1'),
      one('This is to certify that', { ...body, style: 'italic', color: SOFT_INK }),
      lines(fit.lines, fit.size * 1.12, { style: 'regular', size: fit.size }),
      ornament,
      lines(breakEvenly(citation.split(' '), cited, widthOf), body.size * 1.3, body),
      titled(programme, capitals(22 * points, 1.1 * points)),
      ...(distinction === null
        ? []
        : [one(distinction, { style: 'italic', size: 20 * points, color: shade(colours.red, 0.9) })]),
      one(`Admitted ${since}  ·  Member No. ${number}`, { style: 'regular', size: 13 * points, color: INK }),
    ];
  };
  fill(blocks, (58 + 70 + 18) * unit, 460 * unit, unit);
  drawFoot(sheet, unit, middle, certificate);
}

function drawPictureOn(sheet: Drawing, certificate: Certificate): void {
  const { name, programme, distinction, since, number, colours } = certificate;
  const { unit, inside, lines, one, titled, ornament } = begin(sheet, certificate, 84);
  const blocks = (points: number): Block[] => {
    const fit = fitName(sheet, name, inside, 98 * points);
    return [
      titled(certificate.society, capitals(32 * points, 1.6 * points)),
      lines(fit.lines, fit.size * 1.12, { style: 'regular', size: fit.size }),
      ornament,
      titled(programme, capitals(34 * points, 1.4 * points)),
      ...(distinction === null
        ? []
        : [one(distinction, { style: 'italic', size: 30 * points, color: shade(colours.red, 0.9) })]),
      one(`Admitted ${since}`, { style: 'regular', size: 26 * points }),
      one(`Member No. ${number}`, { style: 'regular', size: 26 * points }),
    ];
  };
  fill(blocks, (58 + 84 + 18) * unit, 564 * unit, unit);
}

const capitals = (size: number, spacing: number): TextLook => ({
  style: 'regular',
  size,
  spacing,
  smallCaps: true,
});

/**
 * Draws the frame and the crest. Returns functions that make blocks of text. Lengths are in units of 1/612 of the sheet's height.
 */
function begin(sheet: Drawing, { colours }: Certificate, crestTall: number) {
  const { width, height } = sheet;
  const unit = height / paperSizes.letter[0];
  const middle = width / 2;
  const inside = width - 2 * (FRAME + 40) * unit;

  sheet.asDecoration(() => {
    sheet.pen.rect(0, 0, width, height).fill(PAPER_WHITE);
    drawFrame(sheet, unit, colours.gold);
    const tall = crestTall * unit;
    sheet.crest(middle - (tall * 40) / 48 / 2, 58 * unit, tall, colours);
  });

  const lines = (texts: readonly string[], leading: number, look: TextLook, type?: 'P' | 'H1'): Block => ({
    above: look.size * 0.72,
    below: (texts.length - 1) * leading + look.size * 0.22,
    draw: (baseline) =>
      sheet.asText(() => {
        texts.forEach((text, index) => void sheet.centred(text, middle, baseline + index * leading, look));
      }, type),
  });
  const one = (text: string, look: TextLook) => lines([text], 0, fitted(sheet, text, inside, look));
  const titled = (text: string, look: TextLook, type?: 'P' | 'H1') => {
    const fit = fitTitle(sheet, text, inside, look);
    return lines(fit.lines, fit.look.size * 1.15, fit.look, type);
  };
  const ornament: Block = {
    above: 0,
    below: 6 * unit,
    draw: (y) => sheet.asDecoration(() => drawOrnament(sheet, middle, y, unit, colours.gold)),
  };
  return { unit, middle, inside, lines, one, titled, ornament };
}

/** Draws blocks between the heights `top` and `bottom`, with the largest font sizes for which there is room. */
function fill(blocks: (points: number) => Block[], top: number, bottom: number, unit: number): void {
  const tried = SCALES.map((scale) => blocks(scale * unit));
  const words = tried.find((some) => gapOf(some, top, bottom) >= LEAST_GAP * unit) ?? tried.at(-1)!;
  spread(words, top, bottom, 25 * unit);
}

/** Factors of all font sizes, tried in this order until the gaps between the texts are at least `LEAST_GAP` points. */
const SCALES = [1, 0.92, 0.84, 0.76];
const LEAST_GAP = 10;

/** Returns the gap between blocks that fill the height from `top` to `bottom`. */
function gapOf(blocks: readonly Block[], top: number, bottom: number): number {
  const taken = blocks.reduce((sum, { above, below }) => sum + above + below, 0);
  return (bottom - top - taken) / (blocks.length - 1);
}

/** Draws blocks below each other between the heights `top` and `bottom`, with equal gaps of at most `most` points. */
function spread(blocks: readonly Block[], top: number, bottom: number, most: number): void {
  const widest = gapOf(blocks, top, bottom);
  const gap = Math.min(most, widest);
  let y = top + ((widest - gap) * (blocks.length - 1)) / 2;
  for (const { above, below, draw } of blocks) {
    draw(y + above);
    y += above + below + gap;
  }
}

/** Draws a frame of two golden lines. The inner line has notched corners. */
function drawFrame({ pen, width, height }: Drawing, unit: number, gold: string): void {
  const line = shade(gold, 0.82);
  const outer = FRAME * unit;
  pen
    .lineWidth(2 * unit)
    .rect(outer, outer, width - 2 * outer, height - 2 * outer)
    .stroke(line);
  const inner = (FRAME + 6) * unit;
  const notch = 12 * unit;
  const [left, top, right, bottom] = [inner, inner, width - inner, height - inner];
  const corners: [number, number][] = [
    [left + notch, top],
    [right - notch, top],
    [right - notch, top + notch],
    [right, top + notch],
    [right, bottom - notch],
    [right - notch, bottom - notch],
    [right - notch, bottom],
    [left + notch, bottom],
    [left + notch, bottom - notch],
    [left, bottom - notch],
    [left, top + notch],
    [left + notch, top + notch],
  ];
  pen
    .lineWidth(0.7 * unit)
    .polygon(...corners)
    .stroke(line);
}

function drawOrnament({ pen }: Drawing, x: number, y: number, unit: number, gold: string): void {
  const line = shade(gold, 0.82);
  const [reach, half] = [120 * unit, 3.2 * unit];
  for (const side of [-1, 1])
    pen
      .lineWidth(0.7 * unit)
      .moveTo(x + side * 9 * unit, y)
      .lineTo(x + side * reach, y)
      .stroke(line);
  pen.polygon([x - half, y], [x, y - half], [x + half, y], [x, y + half]).fill(line);
}

/** Draws the signatures on the left and right, and the QR code between them. */
function drawFoot(
  sheet: Drawing,
  unit: number,
  middle: number,
  { signatures, verifyUrl }: Certificate,
): void {
  const { width, pen } = sheet;
  const ruled = 190 * unit;
  const y = 524 * unit;
  signatures.forEach(({ title, name }, index) => {
    const x = width * (index === 0 ? 0.235 : 0.765);
    sheet.asDecoration(() => {
      pen
        .lineWidth(0.6 * unit)
        .moveTo(x - ruled / 2, y)
        .lineTo(x + ruled / 2, y)
        .stroke(INK);
    });
    const look: TextLook = { style: 'regular', size: 12 * unit };
    sheet.asText(() => {
      if (name) sheet.centred(name, x, y + 15 * unit, fitted(sheet, name, ruled, look));
      const soft: TextLook = { ...look, style: 'italic', color: SOFT_INK };
      sheet.centred(title, x, y + (name ? 29 : 15) * unit, fitted(sheet, title, ruled, soft));
    });
  });
  const side = 56 * unit;
  const top = 482 * unit;
  sheet.asPicture(`QR code of ${verifyUrl}`, () => {
    drawQrCode(sheet, verifyUrl, middle - side / 2, top, side);
  });
  const address = verifyUrl.replace(/^https?:\/\//, '');
  const small: TextLook = { style: 'regular', size: 8.5 * unit, color: SOFT_INK };
  sheet.asText(() => {
    const room = width * 0.53 - ruled - 12 * unit;
    sheet.centred(address, middle, top + side + 13 * unit, fitted(sheet, address, room, small));
  });
}

/** Draws the dark modules of a QR code as one path, with a rectangle for each run of modules in a row. */
function drawQrCode({ pen }: Drawing, text: string, left: number, top: number, side: number): void {
  const code = generate(text, { minCorrectionLevel: correction.M });
  const module = side / code.size;
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++) {
      if (!code.get(x, y)) continue;
      let end = x + 1;
      while (end < code.size && code.get(end, y)) end++;
      pen.rect(left + x * module, top + y * module, (end - x) * module, module);
      x = end;
    }
  pen.fill(INK);
}
