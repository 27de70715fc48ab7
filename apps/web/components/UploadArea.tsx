import { type HTMLAttributes, useEffect, useRef, useState } from 'react';
import { useDropzone } from 'react-dropzone';
import { ApiError, messageOf, type RetryMs, retryMsOf } from '#client/failures.ts';
import {
  ACCEPTED_DOCUMENTS,
  acceptedDocuments,
  DOCUMENT_EMPTY,
  DOCUMENT_UNREADABLE,
  fileTooLarge,
  NOT_A_FILE,
  otherEndings,
  othersLeftOut,
  sizeInKilobytes,
  UPLOAD_FAILED,
} from '#documents/document.ts';
import { useSite } from '../lib/site.ts';
import { Alert, Note } from './Alert.tsx';
import { Button } from './Button.tsx';
import { Icon } from './screenIcons.tsx';
import { TryAgain } from './TryAgain.tsx';
import styles from './UploadArea.module.css';

export type Send = (file: File, onProgress: (percent: number) => void, signal: AbortSignal) => Promise<void>;

/** The state of an upload (specification, section 3): file, uploading flag, progress percent, error. */
interface UploadState {
  file: File | null;
  uploading: boolean;
  percent: number;
  error: string | null;
  /** Whether the file was refused for what it is. A retry would then not help. */
  isRefused: boolean;
  retryMs: RetryMs;
  /** The number of automatic retries so far. */
  tries: number;
  /** The name of the last file that was uploaded. */
  sent: string | null;
}
const idle: UploadState = {
  file: null,
  uploading: false,
  percent: 0,
  error: null,
  isRefused: false,
  retryMs: null,
  tries: 0,
  sent: null,
};

/** What the file dialog offers first. HEIC is left out, so that iPhones convert photos to JPEG. */
const ACCEPT = [...Object.entries(acceptedDocuments).flat(2), ...otherEndings].join(',');

/**
 * A drop zone and a button to choose a file, which is uploaded immediately. Of several dropped files only the first is taken;
 * `onLeftOut` gets the sentence about the others, for a page that replaces this area. A failed upload can be retried.
 */
export function UploadArea({
  documentName,
  send,
  onLeftOut,
}: {
  documentName: string;
  send: Send;
  onLeftOut?: (sentence: string | null) => void;
}) {
  const { uploadMaxBytes } = useSite();
  const [state, setState] = useState(idle);
  const [leftOut, setLeftOut] = useState<string | null>(null);
  const sending = useRef<AbortController | null>(null);
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => () => sending.current?.abort(), []);
  // When an upload begins or ends, another button replaces the focused button, and must then get the focus.
  const wasUploading = useRef(state.uploading);
  useEffect(() => {
    if (wasUploading.current === state.uploading) return;
    wasUploading.current = state.uploading;
    if (document.activeElement === document.body) area.current?.querySelector('button')?.focus();
  }, [state.uploading]);

  function refusal(file: File): string | null {
    if (file.size === 0) return DOCUMENT_EMPTY;
    if (uploadMaxBytes !== null && file.size > uploadMaxBytes) return fileTooLarge(uploadMaxBytes);
    return null;
  }

  async function start(file: File, tries = 0) {
    const refuse = (fault: string) => setState({ ...idle, file, isRefused: true, error: fault });
    const refused = refusal(file);
    if (refused) return refuse(refused);
    const controller = new AbortController();
    const { signal } = controller;
    sending.current = controller;
    setState({ ...idle, file, uploading: true });
    try {
      const fault = await contentFault(file);
      if (signal.aborted) return;
      if (fault) return refuse(fault);
      await send(file, (percent) => !signal.aborted && setState((now) => ({ ...now, percent })), signal);
      if (!signal.aborted) setState({ ...idle, sent: file.name });
    } catch (error) {
      if (signal.aborted) return;
      const sentence = messageOf(error, error instanceof Refused ? error.message : UPLOAD_FAILED);
      const isRefused = error instanceof ApiError && error.status === 415;
      setState({ ...idle, file, error: sentence, isRefused, retryMs: retryMsOf(error), tries });
    }
  }

  function take([first, ...others]: readonly File[]) {
    const sentence = first && others.length > 0 ? othersLeftOut(first.name) : null;
    setLeftOut(sentence);
    onLeftOut?.(sentence);
    if (first) void start(first);
    else setState({ ...idle, isRefused: true, error: NOT_A_FILE });
  }

  function cancel() {
    sending.current?.abort();
    setState(idle);
    setLeftOut(null);
  }

  const { getRootProps, getInputProps, isDragActive } = useDropzone({
    noKeyboard: true,
    disabled: state.uploading,
    getFilesFromEvent: filesOf,
    onDrop: take,
  });
  const { tabIndex: _, role: __, onDrop, ...root } = getRootProps();
  const zone: HTMLAttributes<HTMLElement> = {
    ...root,
    onDrop(event) {
      onDrop?.(event);
      // `useDropzone` ignores text, links and pictures of other pages.
      if (!event.dataTransfer.types.includes('Files')) take([]);
    },
  };
  const { style: ___, ...input } = getInputProps();

  return (
    <div className={styles.area} ref={area}>
      {state.uploading && state.file ? (
        <div className={styles.sending}>
          <Icon name="file" size={28} />
          <div className={styles.sendingWords}>
            <p className={styles.fileName} id="upload-name" title={state.file.name}>
              {state.file.name}
            </p>
            <div
              className={styles.track}
              role="progressbar"
              aria-labelledby="upload-name"
              aria-valuemin={0}
              aria-valuemax={100}
              aria-valuenow={state.percent}
            >
              <progress className={styles.bar} max={100} value={state.percent} aria-hidden="true" />
            </div>
            <p className={styles.percent}>
              {state.percent < 100 ? `${state.percent}%` : '100%, now it is being checked…'}
            </p>
          </div>
          {/* There is no Cancel at 100%: the server stores a file that it has received in full, even if the page stops waiting. */}
          {state.percent < 100 && (
            <Button variant="quiet" onClick={cancel}>
              Cancel
            </Button>
          )}
        </div>
      ) : (
        <div {...zone} className={styles.zone} data-over={isDragActive || undefined}>
          <span className={styles.zoneIcon}>
            <Icon name="upload" size={28} />
          </span>
          <p className={`${styles.zoneTitle} ${styles.forMouse}`}>Drop your {documentName} here</p>
          <p className={`${styles.zoneOr} ${styles.forMouse}`}>or</p>
          <p className={`${styles.zoneTitle} ${styles.forTouch}`}>A photo or file of your {documentName}</p>
          <button type="button" className={styles.choose} aria-describedby="upload-types">
            Choose a file
          </button>
          <p className={styles.types} id="upload-types">
            {ACCEPTED_DOCUMENTS}. One file.
          </p>
        </div>
      )}
      <input
        {...input}
        className={styles.input}
        name="file"
        multiple={false}
        accept={ACCEPT}
        aria-label={`Choose your ${documentName}`}
      />
      {state.error && (
        <Alert isAnswer>
          {state.file && <strong className={styles.failedName}>{state.file.name}</strong>}
          <span>{state.error}</span>
        </Alert>
      )}
      {state.error && state.file && !state.isRefused && (
        <TryAgain
          variant="second"
          retryMs={state.retryMs}
          triedBefore={state.tries}
          onTry={(tries) => state.file && void start(state.file, tries)}
        />
      )}
      {leftOut && <Note>{leftOut}</Note>}
      <p className="sr" role="status">
        {state.uploading && state.file
          ? `Uploading ${state.file.name}`
          : state.sent && `${state.sent} was uploaded.`}
      </p>
    </div>
  );
}

/** Returns the files that were dropped, chosen or pasted, without folders. */
async function filesOf(event: unknown): Promise<File[]> {
  const { dataTransfer, clipboardData, target } = event as Partial<DragEvent & ClipboardEvent>;
  const items = (dataTransfer ?? clipboardData)?.items;
  if (!items) return [...((target as HTMLInputElement | null | undefined)?.files ?? [])];
  return [...items]
    .filter((item) => item.kind === 'file' && !item.webkitGetAsEntry()?.isDirectory)
    .flatMap((item) => item.getAsFile() ?? []);
}

/**
 * Checks a file's first bytes before the upload. Returns the sentence for a fault, also if the file was changed or removed after it
 * was chosen. Returns null if there is no fault, or if the browser cannot check.
 */
async function contentFault(file: File): Promise<string | null> {
  try {
    const { headFault, HEAD_BYTES } = await import('#documents/signature.ts');
    return headFault(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()), file.name);
  } catch (error) {
    const cannotRead =
      error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name);
    return cannotRead ? DOCUMENT_UNREADABLE : null;
  }
}

/** Thrown when the server refused the file. The message is a sentence for the joiner. */
export class Refused extends Error {}

export interface UploadedFile {
  name: string;
  size: number;
}

export function UploadedList({ files }: { files: readonly UploadedFile[] }) {
  if (files.length === 0) return null;
  return (
    <section className={styles.uploaded} aria-label="Uploaded files">
      <ul>
        {files.map(({ name, size }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: files are only ever added at the end
          <li key={index}>
            <span className={styles.done}>
              <Icon name="tick" size={16} />
            </span>
            <span className={styles.fileName} title={name}>
              {name}
            </span>
            <span className={styles.size}>{sizeInKilobytes(size)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
