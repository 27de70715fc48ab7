import type { ReactNode } from 'react';
import styles from './Wide.module.css';

/** A table that may be wider than a phone's screen. It scrolls on its own, even by keyboard. */
export function Wide({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it
    <section className={styles.wide} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
