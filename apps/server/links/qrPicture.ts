import { correction, generate } from 'lean-qr';
import { toSvgSource } from 'lean-qr/extras/svg';
import { encodePng } from '../platform/png.ts';

/** The width (in modules) of the light quiet zone that readers need around a code (ISO/IEC 18004, 9.1). */
const QUIET = 4;
/** The width of a module in a PNG (pixels): a code of a link then has about 700 pixels, enough for print. */
const SCALE = 10;

/** Whether {@link pictureOf} can make a picture for a file of this name. */
export const isPictureName = (name: string): boolean => /\.(svg|png)$/i.test(name);

/** Returns a QR code of a text as an SVG or PNG file, whichever the file's name ends with. */
export function pictureOf(text: string, name: string): Buffer {
  const code = generate(text, { minCorrectionLevel: correction.M });
  if (/\.svg$/i.test(name))
    return Buffer.from(
      toSvgSource(code, {
        on: 'black',
        off: 'white',
        padX: QUIET,
        padY: QUIET,
        scale: SCALE,
        xmlDeclaration: true,
      }),
    );
  const side = (code.size + 2 * QUIET) * SCALE;
  const pixels = Buffer.alloc(side * side, 255);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      if (code.get(Math.floor(x / SCALE) - QUIET, Math.floor(y / SCALE) - QUIET)) pixels[y * side + x] = 0;
  return encodePng(pixels, side, 'grey');
}
