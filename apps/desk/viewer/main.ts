import './viewer.css';
import type { FromFrame, ToFrame } from './messages.ts';
import type { Opened } from './opened.ts';
import { openPdf } from './pdf.ts';
import { openPicture } from './picture.ts';

/**
 * Shows one document, whose bytes come from the page around this frame. The frame has no origin and no network access
 * (apps/server/desk/pages.ts), so that a hostile document cannot reach anything outside it.
 */
const post = (message: FromFrame) => window.parent.postMessage(message, '*');

let opened: Opened | null = null;
let latest = 0;

async function obey(message: ToFrame): Promise<void> {
  if (message.kind === 'open') {
    opened = await (message.as === 'pdf' ? openPdf : openPicture)(message.bytes);
    post({ kind: 'opened', pages: opened.pages });
  } else if (opened) {
    const own = ++latest;
    try {
      const { height, isWhole } = await opened.show(message.look);
      if (own === latest) post({ kind: 'shown', height, isWhole });
    } catch (error) {
      // Showing a page also fails when a newer request has stopped it. Such a failure is ignored.
      if (own === latest) throw error;
    }
  }
}

window.addEventListener('message', ({ source, data }: MessageEvent<ToFrame>) => {
  if (source !== window.parent) return;
  obey(data).catch(() => post({ kind: 'failed' }));
});
post({ kind: 'ready' });
