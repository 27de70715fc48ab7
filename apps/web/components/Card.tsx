import type { ReactNode } from 'react';
import { PageHeading } from '#ui/PageHeading.tsx';
import styles from './Card.module.css';

/** The surface around a screen's content, which begins with its heading. With `wide` it has room for cards side by side. */
export function Card({
  title,
  wide = false,
  children,
}: {
  /** Left out where something is above the heading. */
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
