import { correction, generate } from 'lean-qr';
import { toPngBuffer } from 'lean-qr/extras/node_export';
import { toSvgSource } from 'lean-qr/extras/svg';

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
  return Buffer.from(toPngBuffer(code, { on: [0, 0, 0], off: [255, 255, 255], pad: QUIET, scale: SCALE }));
}
