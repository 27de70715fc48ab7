import styles from './Crest.module.css';

/** A shield party per pale with a star, in the society's colours. */
export function Crest({ large = false }: { large?: boolean }) {
  return (
    <svg className={large ? styles.large : styles.crest} viewBox="0 0 40 48" aria-hidden="true">
      <path className={styles.field} d="M20 1 38 6v17c0 11-7 19-18 24C9 42 2 34 2 23V6z" />
      <path className={styles.half} d="M20 5.6 34 9.4v13.4c0 8.600-5.200 15.100-14 19.400z" />
      <path
        className={styles.star}
        d="m20 13.500 2.700 6.300 6.800.6-5.200 4.500 1.600 6.700-5.900-3.600-5.900 3.600 1.600-6.700-5.200-4.500 6.800-.6z"
      />
    </svg>
  );
}
