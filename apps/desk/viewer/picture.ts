import type { Opened } from './opened.ts';

/** Opens a picture. An `<img>` runs no scripts of the file. Without a media type, no browser treats the file as SVG. */
export async function openPicture(bytes: ArrayBuffer): Promise<Opened> {
  const image = new Image();
  image.alt = '';
  image.src = URL.createObjectURL(new Blob([bytes]));
  await image.decode();
  document.body.replaceChildren(image);
  return {
    pages: 1,
    async show({ width, rotation }) {
      const isTurned = rotation % 180 !== 0;
      const { naturalWidth, naturalHeight } = image;
      const scale = width / (isTurned ? naturalHeight : naturalWidth);
      image.style.width = `${naturalWidth * scale}px`;
      image.style.height = `${naturalHeight * scale}px`;
      image.style.transform = `translate(-50%, -50%) rotate(${rotation}deg)`;
      return { height: Math.round((isTurned ? naturalWidth : naturalHeight) * scale), isWhole: true };
    },
  };
}
