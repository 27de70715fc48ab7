import { type ReactNode, useId } from 'react';
import styles from './Section.module.css';

/** A part of a page with its own heading. A URL may link to it by its `id`. */
export function Section({ title, id: given, children }: { title: string; id?: string; children: ReactNode }) {
  const own = useId();
  const id = given ?? own;
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
