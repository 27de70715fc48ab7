import { type HTMLAttributes, useCallback, useEffect, useRef, useState } from 'react';
import { useDropzone } from 'react-dropzone';
import { Alert, Note } from './Alert.tsx';
import { Button } from './Button.tsx';
import { Icon } from './icons.tsx';
import { type RetryWords, TryAgain } from './TryAgain.tsx';
import styles from './UploadArea.module.css';
import { useFocusRescue } from './useFocusRescue.ts';

/** Sends a file. `onProgress` is called with the progress in whole percent. */
export type Send = (file: File, onProgress: (percent: number) => void, signal: AbortSignal) => Promise<void>;

/** Why an upload failed. If the file was refused because of its content or size, a retry would not help. */
export interface UploadFailure {
  message: string;
  isRefused: boolean;
  /** The minimum delay before an automatic retry (ms); null for no retry. */
  retryMs: number | null;
}

/** The texts of the area. The functions get a file's name. */
export interface UploadWords {
  /** The title on devices with a mouse, then on devices with only a touch screen. */
  drop: string;
  or: string;
  touch: string;
  choose: string;
  /** Which files are accepted. */
  types: string;
  /** The name of the file input. */
  input: string;
  /** Shown at 100 percent. */
  checking: string;
  cancel: string;
  uploading: (name: string) => string;
  uploaded: (name: string) => string;
  /** The sentence that only this file was accepted, because others were dropped with it or while it was being sent. */
  othersLeftOut: (name: string) => string;
  /** The sentence for dropped content that is not a file. */
  notAFile: string;
  retry: RetryWords;
}

/** The state of an upload (specification, section 3): file, uploading flag, progress percent, error. */
interface UploadState {
  file: File | null;
  uploading: boolean;
  percent: number;
  failure: UploadFailure | null;
  /** The number of automatic retries so far. */
  tries: number;
  /** The name of the last file that was uploaded. */
  sent: string | null;
}
const idle: UploadState = {
  file: null,
  uploading: false,
  percent: 0,
  failure: null,
  tries: 0,
  sent: null,
};

/**
 * A drop zone and a button to choose a file, which is uploaded immediately. Of several dropped files only the first is accepted,
 * and none while a file is being sent. A failed upload can be retried.
 * - `accept`: the file types that the file dialog offers first.
 * - `refusalOf`: returns why a file cannot be uploaded, or null.
 * - `failureOf`: returns the message for an error that `send` threw.
 * - `onLeftOut`: gets the sentence about the other dropped files, for a page that replaces this area.
 */
export function UploadArea({
  words,
  accept,
  refusalOf,
  send,
  failureOf,
  onLeftOut,
}: {
  words: UploadWords;
  accept: string;
  refusalOf: (file: File) => string | null;
  send: Send;
  failureOf: (error: unknown) => UploadFailure;
  onLeftOut?: ((sentence: string | null) => void) | undefined;
}) {
  const [state, setState] = useState(idle);
  const [leftOut, setLeftOut] = useState<string | null>(null);
  const sending = useRef<AbortController | null>(null);
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => () => sending.current?.abort(), []);
  // When an upload begins or ends, the focused button is replaced by another one, which then has to take the focus.
  const focusButton = useCallback(() => area.current?.querySelector('button')?.focus(), []);
  useFocusRescue(state.uploading, focusButton);

  const refuse = (message: string, file: File | null = null) =>
    setState({ ...idle, file, failure: { message, isRefused: true, retryMs: null } });

  async function start(file: File, tries = 0) {
    const refusal = refusalOf(file);
    if (refusal) return refuse(refusal, file);
    const controller = new AbortController();
    const { signal } = controller;
    sending.current = controller;
    setState({ ...idle, file, uploading: true });
    try {
      await send(file, (percent) => !signal.aborted && setState((now) => ({ ...now, percent })), signal);
      if (!signal.aborted) setState({ ...idle, sent: file.name });
    } catch (error) {
      if (!signal.aborted) setState({ ...idle, file, failure: failureOf(error), tries });
    }
  }

  /** Shows that only the file with this name was accepted. With null, shows nothing. */
  function leaveOthersOut(taken: string | null) {
    const sentence = taken === null ? null : words.othersLeftOut(taken);
    setLeftOut(sentence);
    onLeftOut?.(sentence);
  }

  function take([first, ...others]: readonly File[]) {
    leaveOthersOut(first && others.length > 0 ? first.name : null);
    if (first) void start(first);
    else refuse(words.notAFile);
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
  const { file } = state;
  const { tabIndex: _, role: __, onDrop, ...root } = getRootProps();
  const zone: HTMLAttributes<HTMLElement> = {
    ...root,
    onDrop(event) {
      onDrop?.(event);
      // `useDropzone` ignores dropped text, links and pictures from other pages.
      if (!event.dataTransfer.types.includes('Files')) take([]);
    },
  };
  const whileSending: HTMLAttributes<HTMLElement> = {
    onDrop: ({ dataTransfer }) => file && dataTransfer.types.includes('Files') && leaveOthersOut(file.name),
  };
  const { style: ___, ...input } = getInputProps();

  return (
    <div className={styles.area} ref={area}>
      {state.uploading && file ? (
        <div {...whileSending} className={styles.sending}>
          <Icon name="file" size={28} />
          <div className={styles.sendingWords}>
            <p className={styles.fileName} id="upload-name" title={file.name}>
              {file.name}
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
            <p className={styles.percent}>{state.percent < 100 ? `${state.percent}%` : words.checking}</p>
          </div>
          {/* There is no Cancel at 100%: the server stores a file that it has received in full, even if the page stops waiting. */}
          {state.percent < 100 && (
            <Button variant="quiet" onClick={cancel}>
              {words.cancel}
            </Button>
          )}
        </div>
      ) : (
        <div {...zone} className={styles.zone} data-over={isDragActive || undefined}>
          <span className={styles.zoneIcon}>
            <Icon name="upload" size={28} />
          </span>
          <p className={`${styles.zoneTitle} ${styles.forMouse}`}>{words.drop}</p>
          <p className={`${styles.zoneOr} ${styles.forMouse}`}>{words.or}</p>
          <p className={`${styles.zoneTitle} ${styles.forTouch}`}>{words.touch}</p>
          <button type="button" className={styles.choose} aria-describedby="upload-types">
            {words.choose}
          </button>
          <p className={styles.types} id="upload-types">
            {words.types}
          </p>
        </div>
      )}
      <input
        {...input}
        className={styles.input}
        name="file"
        multiple={false}
        accept={accept}
        aria-label={words.input}
      />
      {state.failure && (
        <Alert isAnswer>
          {file && <strong className={styles.failedName}>{file.name}</strong>}
          <span>{state.failure.message}</span>
        </Alert>
      )}
      {state.failure && file && !state.failure.isRefused && (
        <TryAgain
          words={words.retry}
          variant="second"
          retryMs={state.failure.retryMs}
          triedBefore={state.tries}
          onTry={(tries) => void start(file, tries)}
        />
      )}
      {leftOut && <Note>{leftOut}</Note>}
      <p className="sr" role="status">
        {state.uploading && file ? words.uploading(file.name) : state.sent && words.uploaded(state.sent)}
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

export interface UploadedFile {
  name: string;
  /** The size as it is shown: "12 KB". */
  size: string;
}

/** The list of uploaded files, in a region with the name `label`. */
export function UploadedList({ label, files }: { label: string; files: readonly UploadedFile[] }) {
  if (files.length === 0) return null;
  return (
    <section className={styles.uploaded} aria-label={label}>
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
            <span className={styles.size}>{size}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
