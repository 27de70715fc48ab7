import type { ReactNode } from 'react';
import { useSite } from '../lib/site.ts';
import styles from './SocietyFacts.module.css';

/** Facts about the society that families can look up elsewhere. Facts that are not in the society's file are left out. */
export function SocietyFacts({ children }: { children?: ReactNode }) {
  const { society } = useSite();
  return (
    <section className={styles.society} aria-labelledby="who">
      <h2 id="who">Who we are</h2>
      {society.independence && <p>{society.independence}</p>}
      <Facts
        rows={[
          ['Name', society.name],
          ['Legal form', society.legalForm],
          ['Tax status', society.taxStatus],
          ['Founded', society.founded?.toString()],
          ['Address', society.postalAddress],
          ['On card statements', society.statementName],
        ]}
      />
      <p>
        <a href={society.links.whoWeAre}>{`More about ${society.name}`}</a>
      </p>
      {children}
    </section>
  );
}

/** Facts with their names. Unknown facts are left out. */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [name: string, value: string | null | undefined])[];
}) {
  return (
    <dl className={styles.facts}>
      {rows.map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
