import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Poppler and qpdf, independent programs that read PDFs. On Debian: apt-get install poppler-utils qpdf. */
type Tool = 'pdftotext' | 'pdftoppm' | 'pdffonts' | 'qpdf';

/** Returns why a test that needs these tools is skipped; false when they are installed. */
export function lacks(...tools: Tool[]): string | false {
  const absent = tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  return absent.length > 0 && `${absent.join(' and ')} is not installed here (poppler-utils, qpdf)`;
}

function withFile<T>(pdf: Uint8Array, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'induct-pdf-'));
  try {
    const path = join(folder, 'paper.pdf');
    writeFileSync(path, pdf);
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the text of a PDF, laid out as on its pages. */
export function textOf(pdf: Uint8Array): string {
  return withFile(pdf, (path) => execFileSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' }));
}

export interface Word {
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Returns every word with its position, in points from the top left. */
export function wordsOf(pdf: Uint8Array): { width: number; height: number; words: Word[] } {
  const html = withFile(pdf, (path) => execFileSync('pdftotext', ['-bbox', path, '-'], { encoding: 'utf8' }));
  const [, width, height] = /<page width="([\d.]+)" height="([\d.]+)"/.exec(html)!;
  const words = html
    .matchAll(/<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.*?)<\/word>/g)
    .map(([, left, top, right, bottom, text]) => ({
      text: text!.replaceAll('&apos;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
      left: Number(left),
      top: Number(top),
      right: Number(right),
      bottom: Number(bottom),
    }));
  return { width: Number(width), height: Number(height), words: [...words] };
}

/** Returns a PDF's fonts by name, and whether each is embedded and reduced to the characters in use. */
export function fontsOf(pdf: Uint8Array): { name: string; isEmbedded: boolean; isSubset: boolean }[] {
  const table = withFile(pdf, (path) => execFileSync('pdffonts', [path], { encoding: 'utf8' }));
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => {
      const [, isEmbedded, isSubset] = /\s(yes|no)\s+(yes|no)\s+(?:yes|no)\s+\d+\s+\d+$/.exec(line)!;
      return { name: line.split(' ')[0]!, isEmbedded: isEmbedded === 'yes', isSubset: isSubset === 'yes' };
    });
}

/** Throws an error with qpdf's findings if the structure of a PDF is faulty. */
export function checkStructure(pdf: Uint8Array): void {
  withFile(pdf, (path) => execFileSync('qpdf', ['--check', path], { stdio: 'pipe' }));
}

/**
 * Encrypts a PDF with qpdf. The arguments are the user password, the owner password, the number of bits of the key, and further
 * options.
 */
export function encryptedByQpdf(pdf: Uint8Array, [user, owner, bits, ...options]: readonly string[]): Buffer {
  const encrypt = ['--encrypt', user!, owner!, bits!, ...options, '--'];
  // qpdf exits with 3 to warn that the encryption is weak.
  return withFile(pdf, (path) => {
    const { status, stdout, stderr } = spawnSync('qpdf', ['--allow-weak-crypto', path, ...encrypt, '-']);
    if (status !== 0 && status !== 3) throw new Error(stderr.toString());
    return stdout;
  });
}

/** Returns a PDF's first page as pixels of four bytes each: red, green, blue and alpha. */
export function picture(
  pdf: Uint8Array,
  dotsPerInch = 150,
): { width: number; height: number; data: Uint8ClampedArray } {
  const ppm = withFile(pdf, (path) =>
    execFileSync('pdftoppm', ['-r', String(dotsPerInch), '-singlefile', path], {
      maxBuffer: 100_000_000,
    }),
  );
  // The image begins with "P6\n1650 1275\n255\n", followed by three bytes for each pixel.
  const [head, width, height] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.subarray(0, 40).toString('latin1'))!;
  const pixels = Number(width) * Number(height);
  const data = new Uint8ClampedArray(pixels * 4).fill(255);
  for (let pixel = 0; pixel < pixels; pixel++)
    for (let channel = 0; channel < 3; channel++)
      data[pixel * 4 + channel] = ppm[head.length + pixel * 3 + channel]!;
  return { width: Number(width), height: Number(height), data };
}
