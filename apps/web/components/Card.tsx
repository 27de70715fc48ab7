import type { ReactNode } from 'react';
import { PageHeading } from '#ui/PageHeading.tsx';
import styles from './Card.module.css';

/** The surface around a screen's content, which begins with its heading. With `wide` it has room for several cards in a row. */
export function Card({
  title,
  wide = false,
  children,
}: {
  /** Absent if the screen shows something above the heading; it then renders the heading itself. */
  title?: string;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={wide ? `${styles.card} ${styles.wide}` : styles.card}>
      {title && <PageHeading title={title} />}
      {children}
    </div>
  );
}
