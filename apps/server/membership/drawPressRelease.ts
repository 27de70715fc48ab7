import type { Paper } from '#core/paper.ts';
import { fitTitle } from './fitName.ts';
import { type PressRelease, release } from './pressRelease.ts';
import {
  fitted,
  INK,
  openSheet,
  paperSizes,
  type Sheet,
  SOFT_INK,
  shade,
  type TextLook,
  wrap,
} from './sheet.ts';
import type { Typeface } from './typeface.ts';

const MARGIN = 72;
/** Font sizes (points), tried in this order until the text fits on one page. */
const SIZES = [12, 11, 10, 9, 8, 7, 6];

/** Draws the press release as a PDF of one portrait page. Equal releases give equal bytes. */
export async function drawPressRelease(
  typeface: Typeface,
  written: PressRelease,
  paper: Paper,
): Promise<Buffer> {
  const sheet = openSheet(typeface, {
    size: paperSizes[paper],
    title: written.headline,
    author: written.society,
    date: written.sinceTime,
  });
  const size = SIZES.find((points) => write(sheet, written, points, false) <= sheet.height - MARGIN);
  write(sheet, written, size ?? SIZES.at(-1)!, true);
  return sheet.finish();
}

/**
 * Draws the text, or only measures it if `isDrawn` is false. Returns the height at which the text ends, from the top of the page.
 */
function write(sheet: Sheet, written: PressRelease, size: number, isDrawn: boolean): number {
  const { headline, dateline, paragraphs, about, contact, society, colours } = written;
  const width = sheet.width - 2 * MARGIN;
  let y = MARGIN;

  const paragraph = (
    text: string,
    look: TextLook,
    after: number,
    { leading = 1.35, lead = '', type }: { leading?: number; lead?: string; type?: 'P' | 'H1' } = {},
  ) => {
    const lines = wrap(sheet, lead + text, width, look);
    const from = y;
    const draw = () =>
      lines.forEach((line, index) => {
        const baseline = from + look.size + index * look.size * leading;
        sheet.line(line, MARGIN, baseline, fitted(sheet, line, width, look));
      });
    if (isDrawn) sheet.asText(draw, type);
    y += lines.length * look.size * leading + after;
  };

  const body: TextLook = { style: 'regular', size };
  if (isDrawn)
    sheet.asDecoration(() => {
      sheet.crest(MARGIN, MARGIN - 8, 34, colours);
      const rule = MARGIN + 38;
      sheet.pen
        .lineWidth(0.7)
        .moveTo(MARGIN, rule)
        .lineTo(sheet.width - MARGIN, rule)
        .stroke(shade(colours.gold, 0.82));
    });
  const head: TextLook = { style: 'regular', size: 17, spacing: 0.8, smallCaps: true };
  if (isDrawn) {
    const { lines, look } = fitTitle(sheet, society, width - 42, head);
    const first = lines.length === 1 ? MARGIN + 15 : MARGIN + 7;
    sheet.asText(() => {
      lines.forEach(
        (line, index) => void sheet.line(line, MARGIN + 42, first + index * look.size * 1.25, look),
      );
    });
  }
  y += 60;
  paragraph(release.top, { style: 'semibold', size: 10.5, spacing: 0.5, color: shade(colours.red, 0.9) }, 10);
  paragraph(headline, { style: 'semibold', size: size * 1.85 }, size * 0.9, { leading: 1.12, type: 'H1' });
  paragraphs.forEach((text, index) => {
    paragraph(text, body, size * 0.75, { leading: 1.42, lead: index === 0 ? `${dateline} – ` : '' });
  });
  y += size * 0.5;
  if (about) {
    paragraph(about.title, { style: 'semibold', size, color: INK }, 2);
    paragraph(about.text, body, size, { leading: 1.42 });
  }
  for (const [index, text] of contact.entries())
    paragraph(
      text,
      { style: index === 0 ? 'semibold' : 'regular', size, color: index === 0 ? INK : SOFT_INK },
      0,
    );
  y += size;
  const end: TextLook = { style: 'regular', size, color: SOFT_INK };
  if (isDrawn) sheet.asText(() => sheet.centred(release.end, sheet.width / 2, y + size, end));
  return y + size;
}
