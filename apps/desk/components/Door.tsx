import type { ReactNode } from 'react';
import { societyName } from '../lib/society.ts';
import styles from './Door.module.css';

/** The layout of pages for users who are not signed in: the society's name, and one card. */
export function Door({ children }: { children: ReactNode }) {
  return (
    <div className={styles.door}>
      <header className={styles.header}>
        <p className={styles.name}>{societyName}</p>
      </header>
      <main className={styles.card}>{children}</main>
    </div>
  );
}
