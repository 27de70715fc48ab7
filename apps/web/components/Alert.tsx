import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import styles from './ui.module.css';

/** An error in the page, said at once by a screen reader. */
export function Alert({ children }: { children: ReactNode }) {
  return (
    <div className={styles.alert} role="alert">
      <Icon name="alert" size={18} />
      <div>{children}</div>
    </div>
  );
}

/** Something to know that is no error, said when there is a pause. */
export function Note({ children }: { children: ReactNode }) {
  return (
    <div className={`${styles.alert} ${styles.note}`} role="status">
      <div>{children}</div>
    </div>
  );
}
