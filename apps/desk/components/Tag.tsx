import type { ReactNode } from 'react';
import styles from './Tag.module.css';

/** A state in one word. The word alone is sufficient; its colour only makes it easier to find. */
export function Tag({ tone = 'plain', children }: { tone?: 'plain' | 'good' | 'bad'; children: ReactNode }) {
  return <span className={`${styles.tag} ${styles[tone]}`}>{children}</span>;
}
