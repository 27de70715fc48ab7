import type { ReactNode } from 'react';
import styles from './Alert.module.css';
import { Icon } from './icons.tsx';
import { useErrorInTitle } from './title.ts';

interface Props {
  children: ReactNode;
  /**
   * Whether the message answers the press of a button. If so, the message scrolls into view when it appears, since a phone may
   * show only the button.
   */
  isAnswer?: boolean;
}

/**
 * An error message, which screen readers announce immediately. While a message with `isAnswer` is shown, the document's title
 * begins with `Error:`.
 */
export function Alert({ children, isAnswer = false }: Props) {
  useErrorInTitle(isAnswer);
  return (
    <div ref={isAnswer ? scrollIntoView : null} className={styles.alert} role="alert">
      <Icon name="alert" size={18} />
      <div>{children}</div>
    </div>
  );
}

/** A message that is no error. Screen readers announce it when the user is idle. */
export function Note({ children, isAnswer = false }: Props) {
  return (
    <div ref={isAnswer ? scrollIntoView : null} className={`${styles.alert} ${styles.note}`} role="status">
      <div>{children}</div>
    </div>
  );
}

/** A ref that scrolls an element into view when the element appears. An element that is in view already does not move. */
export function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}
