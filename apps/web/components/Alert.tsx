import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './ui.module.css';

/** An error message. Screen readers announce it at once. */
export function Alert({ children }: { children: ReactNode }) {
  return (
    <div className={styles.alert} role="alert">
      <Icon name="alert" size={18} />
      <div>{children}</div>
    </div>
  );
}

/** A message that is not an error. Screen readers announce it politely. */
export function Note({ children }: { children: ReactNode }) {
  return (
    <div className={`${styles.alert} ${styles.note}`} role="status">
      <div>{children}</div>
    </div>
  );
}
