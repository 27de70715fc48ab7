import { crest } from '#core/crest.ts';
import { type Drawing, INK, type Pen, shade, type TextLook } from './sheet.ts';
import type { Typeface } from './typeface.ts';

/**
 * Starts a picture of the certificate, as SVG. Its letters are drawn as shapes, so that it needs no font and contains no text.
 * `finish` returns the SVG.
 */
export function openPicture(
  typeface: Typeface,
  [width, height]: readonly [width: number, height: number],
): Drawing & { finish(): string } {
  const drawn: string[] = [];
  const glyphs = new Map<string, string>();
  const add = (d: string, look: string) => void drawn.push(`<path d="${d}" ${look}/>`);

  let path = '';
  let line = 1;
  const draw = (more: string) => {
    path += more;
    return pen;
  };
  const end = (look: string) => {
    add(path, look);
    path = '';
    return pen;
  };
  const pen: Pen = {
    lineWidth(wide) {
      line = wide;
      return pen;
    },
    rect: (x, y, wide, tall) => draw(`M${short(x, y)}h${short(wide)}v${short(tall)}h${short(-wide)}z`),
    polygon: (...corners) => draw(`M${corners.map((corner) => short(...corner)).join('L')}z`),
    moveTo: (x, y) => draw(`M${short(x, y)}`),
    lineTo: (x, y) => draw(`L${short(x, y)}`),
    stroke: (color) => end(`fill="none" stroke="${color}" stroke-width="${short(line)}"`),
    fill: (color) => end(`fill="${color}"`),
  };

  /** Lays out a line of text. `units`: how many font units a point has; `advance`: the width of each glyph in font units. */
  const laidOut = (text: string, { style, size, spacing = 0, smallCaps = false }: TextLook) => {
    const font = typeface.font(style);
    const run = font.layout(text, smallCaps ? ['smcp'] : []);
    const units = font.unitsPerEm / size;
    const advance = run.positions.map(({ xAdvance }) => xAdvance + spacing * units);
    const total = advance.reduce((sum, wide) => sum + wide, 0) - spacing * units;
    return { run, units, advance, width: total / units };
  };
  const sheet: Drawing & { finish(): string } = {
    pen,
    width,
    height,
    widthOf: (text, look) => laidOut(text, look).width,
    line(text, x, y, look) {
      const { run, units, advance } = laidOut(text, look);
      let at = 0;
      const used = run.glyphs.map((glyph, index) => {
        const id = `${look.style[0]}${glyph.id}`;
        glyphs.set(id, glyph.path.toSVG());
        const { xOffset, yOffset } = run.positions[index]!;
        const [left, up] = [at + xOffset, yOffset];
        at += advance[index]!;
        return `<use href="#${id}" x="${Math.round(left)}" y="${Math.round(up)}"/>`;
      });
      const scale = Number((1 / units).toPrecision(4));
      drawn.push(
        `<g fill="${look.color ?? INK}" transform="translate(${short(x, y)}) scale(${scale} ${-scale})">${used.join('')}</g>`,
      );
    },
    centred(text, x, y, look) {
      sheet.line(text, x - sheet.widthOf(text, look) / 2, y, look);
    },
    asText: (print) => print(),
    asPicture: (_, print) => print(),
    asDecoration: (print) => print(),
    crest(x, y, tall, { gold, red }) {
      const dark = shade(red, 0.75);
      drawn.push(`<g transform="translate(${short(x, y)}) scale(${short(tall / crest.height)})">`);
      add(crest.field, `fill="${red}" stroke="${dark}" stroke-width="1.2"`);
      add(crest.half, `fill="${gold}"`);
      add(crest.star, `fill="#fff" stroke="${dark}" stroke-width="0.6" stroke-linejoin="round"`);
      drawn.push('</g>');
    },
    finish() {
      const shapes = [...glyphs].map(([id, d]) => `<path id="${id}" d="${d}"/>`).join('');
      const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
      return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><defs>${shapes}</defs>${drawn.join('')}</svg>`;
    },
  };
  return sheet;
}

/** Returns numbers with at most two decimals, with spaces between them. */
function short(...numbers: number[]): string {
  return numbers.map((number) => Number(number.toFixed(2))).join(' ');
}
