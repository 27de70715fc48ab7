import { correction, generate } from 'lean-qr';
import { toSvgPath, toSvgSource } from 'lean-qr/extras/svg';

/** The width (in modules) of the light quiet zone that readers need around a code (ISO/IEC 18004, 9.1). */
const QUIET = 4;

/** Returns a QR code, both as the path of an SVG in the page and as an SVG file for printing. */
export function qrCodeOf(text: string): { viewBox: string; path: string; file: string } {
  const code = generate(text, { minCorrectionLevel: correction.M });
  const size = code.size + 2 * QUIET;
  const look = { on: 'black', off: 'white', padX: QUIET, padY: QUIET, scale: 10, xmlDeclaration: true };
  return {
    viewBox: `${-QUIET} ${-QUIET} ${size} ${size}`,
    path: toSvgPath(code),
    file: toSvgSource(code, look),
  };
}
