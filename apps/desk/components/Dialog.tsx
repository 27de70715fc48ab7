import { type ReactNode, useEffect, useId, useRef } from 'react';
import styles from './Dialog.module.css';

/**
 * A native dialog, open as long as it is rendered. Escape closes it. When it opens, the element with `data-first` gets the focus,
 * or else the first control. When it closes, the element that had the focus before gets it back.
 */
export function Dialog({
  title,
  onClose,
  wide = false,
  children,
}: {
  title: ReactNode;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement as HTMLElement | null;
    shown?.showModal();
    shown?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      shown?.close();
      before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? `${styles.dialog} ${styles.wide}` : styles.dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

/** The fields of a form in a dialog. */
export function DialogFields({ children }: { children: ReactNode }) {
  return <div className={styles.fields}>{children}</div>;
}

/** The buttons at the end of a dialog. A key that is still held down from opening the dialog does not press them. */
export function DialogButtons({ children }: { children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps keys from the buttons
    <div className={styles.buttons} onKeyDown={(event) => event.repeat && event.preventDefault()}>
      {children}
    </div>
  );
}
