import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SocietyFaults } from './readSociety.ts';

/** The allowed width and height (pixels). Home screens need the lower limit. */
const PIXELS = { least: 180, most: 1024 };
/** The maximum size. It is small because every letter contains the icon. */
const MOST_BYTES = 100_000;
const SHAPE = `a square PNG of ${PIXELS.least} to ${PIXELS.most} pixels and at most ${MOST_BYTES / 1000} kB`;

/**
 * Reads the society's icon for tabs, home screens and letters: `icon.png` next to its society file. Throws {@link SocietyFaults}
 * if it is missing, or has the wrong format or size.
 */
export function readIcon(societyFile: string): Buffer {
  const file = join(dirname(societyFile), 'icon.png');
  const refuse = (is: string) => {
    throw new SocietyFaults([`${file} ${is}. The icon of tabs, home screens and letters must be ${SHAPE}`]);
  };
  let icon: Buffer;
  try {
    icon = readFileSync(file);
  } catch {
    return refuse('cannot be read');
  }
  if (icon.toString('latin1', 0, 16) !== '\x89PNG\r\n\x1a\n\0\0\0\rIHDR') return refuse('is not a PNG');
  if (icon.toString('latin1', icon.length - 8, icon.length - 4) !== 'IEND') return refuse('is not complete');
  const [width, height] = [icon.readUInt32BE(16), icon.readUInt32BE(20)];
  if (width !== height || width < PIXELS.least || width > PIXELS.most)
    return refuse(`is ${width} by ${height} pixels`);
  if (icon.length > MOST_BYTES) return refuse(`has ${Math.ceil(icon.length / 1000)} kB`);
  return icon;
}
