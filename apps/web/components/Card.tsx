import type { ReactNode } from 'react';
import styles from './Card.module.css';

/** The surface around a screen's content. With `wide` it has room for cards side by side. */
export function Card({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return <div className={wide ? `${styles.card} ${styles.wide}` : styles.card}>{children}</div>;
}
