import type { ReactNode } from 'react';
import styles from './Tag.module.css';

/** A state in a word. The word says all; the colour only lets one find it. */
export function Tag({ tone = 'plain', children }: { tone?: 'plain' | 'good' | 'bad'; children: ReactNode }) {
  return <span className={`${styles.tag} ${styles[tone]}`}>{children}</span>;
}
