import 'pdfjs-dist/legacy/build/pdf.worker.mjs';
import { getDocument, OPS, type PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { Look } from './messages.ts';
import type { Opened, Shown } from './opened.ts';

/** The maximum number of pixels of a canvas. Phones refuse larger ones. */
const MOST_PIXELS = 16_000_000;

/**
 * Opens a PDF. Its pages are only painted: its scripts, forms, links and attachments are ignored. pdf.js runs in this thread,
 * because a document without an origin cannot have a worker.
 */
export async function openPdf(bytes: ArrayBuffer): Promise<Opened> {
  const document = await getDocument({
    data: new Uint8Array(bytes),
    enableXfa: false,
    // Nothing can be fetched in this frame, but the decoders of pictures can be loaded as scripts.
    useWorkerFetch: false,
    BinaryDataFactory: Decoders,
    verbosity: 0,
  }).promise;
  let task: { cancel(): void } | null = null;
  return {
    pages: document.numPages,
    async show(look) {
      task?.cancel();
      const page = await document.getPage(look.page);
      const { canvas, viewport, height } = prepared(page, look);
      const painting = page.render({ canvas, viewport, annotationMode: 0 });
      task = painting;
      await painting.promise;
      window.document.body.replaceChildren(canvas);
      return { height, isWhole: await hasAllPictures(page) };
    },
  };
}

/**
 * The decoders that pdf.js uses for some pictures: those in JPEG 2000, and (with `jbig2.wasm`) those in JBIG2 or in a fax
 * encoding.
 */
const decoders: Record<string, () => Promise<{ default: Uint8Array }>> = {
  'jbig2.wasm': () => import('pdfjs-dist/wasm/jbig2.wasm'),
  'openjpeg.wasm': () => import('pdfjs-dist/wasm/openjpeg.wasm'),
};

/** Gives pdf.js the decoder that it asks for. */
class Decoders {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const load = decoders[filename];
    if (!load) throw new Error(`${filename} is not here`);
    return (await load()).default;
  }
}

function prepared(page: PDFPageProxy, { width, rotation }: Look) {
  const turned = { rotation: (page.rotate + rotation) % 360 };
  const natural = page.getViewport({ scale: 1, ...turned });
  const height = Math.round((natural.height * width) / natural.width);
  const density = Math.min(window.devicePixelRatio, Math.sqrt(MOST_PIXELS / (width * height)));
  const viewport = page.getViewport({ scale: (width * density) / natural.width, ...turned });
  const canvas = window.document.createElement('canvas');
  canvas.width = Math.max(1, Math.floor(viewport.width));
  canvas.height = Math.max(1, Math.floor(viewport.height));
  Object.assign(canvas.style, {
    width: `${width}px`,
    height: `${height}px`,
    transform: 'translate(-50%, -50%)',
  });
  return { canvas, viewport, height };
}

/** Needed because pdf.js silently leaves out a picture that it cannot decode. */
async function hasAllPictures(page: PDFPageProxy): Promise<Shown['isWhole']> {
  const { fnArray, argsArray } = await page.getOperatorList();
  const pictures = new Set<number>([OPS.paintImageXObject, OPS.paintImageMaskXObject]);
  return fnArray.every((op, index) => {
    if (!pictures.has(op)) return true;
    const [id] = argsArray[index] as [unknown];
    if (typeof id !== 'string') return true;
    const objects = id.startsWith('g_') ? page.commonObjs : page.objs;
    return !objects.has(id) || objects.get(id) !== null;
  });
}
