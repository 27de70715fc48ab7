/**
 * A QR code as a square picture. `size` is its width in modules, including the quiet zone. The path draws the dark modules (SVG).
 */
export interface QrCode {
  size: number;
  path: string;
}

/** The width (in modules) of the light quiet zone that readers need around a code (ISO/IEC 18004, 9.1). */
const QUIET = 4;

/**
 * Makes a QR code. The first call downloads the encoder. The result is an SVG path, because drawing a path needs no inline style,
 * which the content security policy would block.
 */
export async function qrCode(text: string): Promise<QrCode> {
  const { correction, generate } = await import('lean-qr');
  const code = generate(text, { minCorrectionLevel: correction.M });
  let path = '';
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++) if (code.get(x, y)) path += `M${x + QUIET} ${y + QUIET}h1v1h-1z`;
  return { size: code.size + 2 * QUIET, path };
}
