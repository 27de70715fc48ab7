import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './ui.module.css';

/** An error message, which screen readers announce immediately. */
export function Alert({ children }: { children: ReactNode }) {
  return (
    <div className={styles.alert} role="alert">
      <Icon name="alert" size={18} />
      <div>{children}</div>
    </div>
  );
}

/** A message that is no error. Screen readers announce it when the user is idle. */
export function Note({ children }: { children: ReactNode }) {
  return (
    <div className={`${styles.alert} ${styles.note}`} role="status">
      <div>{children}</div>
    </div>
  );
}
