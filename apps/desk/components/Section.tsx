import { type ReactNode, useId } from 'react';
import styles from './Section.module.css';

/** A part of a page under a heading of its own, which an address may name by its `id`. */
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
