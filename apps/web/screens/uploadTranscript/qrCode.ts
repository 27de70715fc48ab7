/** A QR code as a picture: its width and height in modules, the quiet zone included, and its dark modules as an SVG path. */
export interface QrCode {
  size: number;
  path: string;
}

/** Light modules that a reader wants around a code (ISO/IEC 18004, 9.1). */
const QUIET = 4;

/** The encoder is downloaded when a code is asked for. A path needs no style, which the page's policy would refuse. */
export async function qrCode(text: string): Promise<QrCode> {
  const { correction, generate } = await import('lean-qr');
  const code = generate(text, { minCorrectionLevel: correction.M });
  let path = '';
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++) if (code.get(x, y)) path += `M${x + QUIET} ${y + QUIET}h1v1h-1z`;
  return { size: code.size + 2 * QUIET, path };
}
