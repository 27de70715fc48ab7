import type { ReactNode } from 'react';
import styles from './Card.module.css';

/** The surface that holds a screen's content: narrow for forms, `wide` for cards side by side. */
export function Card({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return <div className={wide ? `${styles.card} ${styles.wide}` : styles.card}>{children}</div>;
}
