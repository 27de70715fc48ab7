import { useCallback, useEffect, useRef, useState } from 'react';
import { messageOf } from '#client/failures.ts';
import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';
import { takeFile } from '../lib/call.ts';
import { isUnreadable, saveDocument } from '../lib/documents.ts';
import { useLoaded } from '../lib/useLoaded.ts';
import type { FromFrame, Look, ToFrame } from '../viewer/messages.ts';
import { PartFailed } from './Failed.tsx';
import styles from './Viewer.module.css';

export interface ViewedDocument {
  id: string;
  name: string;
  /** Null if browsers cannot show it. */
  shownAs: 'pdf' | 'picture' | null;
  isRemoved: boolean;
}

const NOT_SHOWN = 'This document cannot be shown.';
const NOT_WHOLE = 'Some pictures of this page cannot be shown. Download the document to see them.';
const REMOVED = 'The file of this document was removed. What was decided on it stays.';

/** Shows one document in a frame that has no origin and no network access. Must get the document's id as its React key. */
export function Viewer({ document }: { document: ViewedDocument }) {
  if (document.isRemoved) return <p>{REMOVED}</p>;
  if (document.shownAs === null) return <NotShown document={document} />;
  return <Loaded document={document} as={document.shownAs} />;
}

/** Shown in place of a document that cannot be shown. */
function NotShown({ document, why }: { document: ViewedDocument; why?: string }) {
  return (
    <Stack>
      <Alert>
        {NOT_SHOWN} {why}
      </Alert>
      <Download document={document} />
    </Stack>
  );
}

export function Download({
  document,
  describedBy,
}: {
  document: Pick<ViewedDocument, 'id' | 'name'>;
  /** The id of the element that names the document, if there are several documents. */
  describedBy?: string;
}) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const download = async () => {
    setBusy(true);
    setFault(null);
    try {
      await saveDocument(document);
    } catch (error) {
      setFault(messageOf(error, 'This could not be loaded.'));
    }
    setBusy(false);
  };
  return (
    <>
      <Button
        variant="plain"
        aria-describedby={describedBy}
        busy={isBusy && 'Downloading…'}
        onClick={() => void download()}
      >
        Download
      </Button>
      {fault && <Alert isAnswer>{fault}</Alert>}
    </>
  );
}

function Loaded({ document, as }: { document: ViewedDocument; as: 'pdf' | 'picture' }) {
  const { id } = document;
  const { data, error, tryAgain } = useLoaded(
    useCallback((signal) => takeFile('openDocument', { params: { id }, signal }), [id]),
  );
  const [hasFailed, setFailed] = useState(false);
  if (isUnreadable(error)) return <NotShown document={document} why={messageOf(error, '')} />;
  if (error) return <PartFailed error={error} isTrying={false} onTry={tryAgain} />;
  if (hasFailed) return <NotShown document={document} />;
  return <Framed document={document} as={as} bytes={data ?? null} onFailed={() => setFailed(true)} />;
}

/** What the frame has reported about the document and the page that it shows. */
interface Seen {
  pages: number;
  height: number;
  isWhole: boolean;
}

const zooms = [1, 1.5, 2, 3] as const;

function Framed({
  document,
  as,
  bytes,
  onFailed,
}: {
  document: ViewedDocument;
  as: 'pdf' | 'picture';
  bytes: ArrayBuffer | null;
  onFailed: () => void;
}) {
  const frame = useRef<HTMLIFrameElement>(null);
  const room = useRef<HTMLElement>(null);
  const [isReady, setReady] = useState(false);
  const [seen, setSeen] = useState<Seen | null>(null);
  const [roomWidth, setRoomWidth] = useState(0);
  const [page, setPage] = useState(1);
  const [zoom, setZoom] = useState(0);
  const [rotation, setRotation] = useState<Look['rotation']>(0);
  const width = Math.floor(roomWidth * zooms[zoom]!);

  useEffect(() => {
    const heard = ({ source, data }: MessageEvent<FromFrame>) => {
      if (source !== frame.current?.contentWindow) return;
      if (data.kind === 'ready') setReady(true);
      else if (data.kind === 'failed') onFailed();
      else if (data.kind === 'opened')
        setSeen({ pages: between(1, data.pages, 10_000), height: 0, isWhole: true });
      else if (data.kind === 'shown')
        setSeen(
          (before) =>
            before && { ...before, height: between(1, data.height, 50_000), isWhole: data.isWhole === true },
        );
    };
    window.addEventListener('message', heard);
    return () => window.removeEventListener('message', heard);
  }, [onFailed]);
  useEffect(() => {
    const size = new ResizeObserver(() => setRoomWidth(room.current?.clientWidth ?? 0));
    size.observe(room.current!);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    if (isReady && bytes) post(frame.current, { kind: 'open', as, bytes });
  }, [isReady, bytes, as]);
  const isOpen = seen !== null;
  useEffect(() => {
    if (isOpen && width > 0) post(frame.current, { kind: 'show', look: { page, width, rotation } });
  }, [isOpen, page, width, rotation]);

  const turnTo = (next: number) => {
    setPage(next);
    room.current?.scrollTo(0, 0);
  };
  const pages = seen?.pages ?? 1;
  const isShown = seen !== null && seen.height > 0;
  return (
    <div>
      <div className={styles.bar}>
        {as === 'pdf' && (
          <>
            <Button variant="plain" disabled={!isShown || page === 1} onClick={() => turnTo(page - 1)}>
              Previous page
            </Button>
            <Button variant="plain" disabled={!isShown || page === pages} onClick={() => turnTo(page + 1)}>
              Next page
            </Button>
          </>
        )}
        <Button variant="plain" disabled={!isShown || zoom === 0} onClick={() => setZoom(zoom - 1)}>
          Zoom out
        </Button>
        <Button
          variant="plain"
          disabled={!isShown || zoom === zooms.length - 1}
          onClick={() => setZoom(zoom + 1)}
        >
          Zoom in
        </Button>
        <Button
          variant="plain"
          disabled={!isShown}
          onClick={() => setRotation(((rotation + 90) % 360) as Look['rotation'])}
        >
          Rotate
        </Button>
        <Download document={document} />
        <p className={styles.page} role="status">
          {isShown ? `Page ${page} of ${pages}` : 'Loading'}
        </p>
      </div>
      {isShown && !seen.isWhole && <Alert>{NOT_WHOLE}</Alert>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section ref={room} className={styles.room} aria-label={document.name} tabIndex={0}>
        {!isShown && <Bones count={12} />}
        <iframe
          ref={frame}
          src="/viewer"
          // No `allow-same-origin`: what runs in the frame has no origin, so it cannot reach the desk's data.
          sandbox="allow-scripts"
          title={document.name}
          tabIndex={-1}
          className={styles.frame}
          style={isShown ? { width, height: seen.height } : { width: 0, height: 0 }}
        />
      </section>
    </div>
  );
}

/**
 * The target origin is `*`, because the frame has no origin. Only the viewer can be in it, since the page's Content Security
 * Policy allows the frame to load nothing else.
 */
function post(frame: HTMLIFrameElement | null, message: ToFrame): void {
  frame?.contentWindow?.postMessage(message, '*');
}

/** Returns a number that the frame reported, limited to this range. If it is not a number, returns `least`. */
function between(least: number, said: unknown, most: number): number {
  return Math.min(most, Math.max(least, Math.round(Number(said)) || least));
}
