import type { Data } from '#contract/schemas.ts';

export type Papers = NonNullable<Data<'getWelcome'>['papers']>;
export type Certificate = NonNullable<Papers['certificate']>;

/** How many times larger the shared picture is than the picture on the page, so that it is sharp on other devices. */
const SCALE = 3;

/**
 * Draws the picture of the certificate as a PNG, once it has loaded. Null if it does not load, or if the browser cannot draw it.
 */
export async function pngOf(picture: HTMLImageElement | null): Promise<File | null> {
  if (
    !picture ||
    !(await picture.decode().then(
      () => true,
      () => false,
    ))
  )
    return null;
  const canvas = document.createElement('canvas');
  canvas.width = picture.naturalWidth * SCALE;
  canvas.height = picture.naturalHeight * SCALE;
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  return png && new File([png], 'certificate.png', { type: 'image/png' });
}

/**
 * Opens the browser's sheet for sharing, with the picture if the browser can share files. Also resolves when the sheet is closed
 * without sharing.
 */
export async function share(words: { text: string; url: string }, png: File | null): Promise<void> {
  const withPicture = png && { ...words, files: [png] };
  try {
    await navigator.share(withPicture && navigator.canShare?.(withPicture) ? withPicture : words);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
  }
}

/** Downloads the picture to the device. */
export function save(png: File): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(png);
  link.download = png.name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Returns the LinkedIn URL that adds the membership to a profile. `verifyUrl`: null if others may not verify the membership. */
export function linkedInAddress(
  { programme, since }: Pick<Certificate, 'programme' | 'since'>,
  number: string,
  society: string,
  verifyUrl: string | null,
): string {
  const [year, month] = since.split('-');
  const fields = new URLSearchParams({
    startTask: 'CERTIFICATION_NAME',
    name: `Member, ${programme}`,
    organizationName: society,
    issueYear: year!,
    issueMonth: String(Number(month)),
    certId: number,
    ...(verifyUrl && { certUrl: verifyUrl }),
  });
  return `https://www.linkedin.com/profile/add?${fields}`;
}
