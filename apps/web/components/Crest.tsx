import { crest } from '#core/crest.ts';
import styles from './Crest.module.css';

export function Crest({ large = false }: { large?: boolean }) {
  return (
    <svg
      className={large ? styles.large : styles.crest}
      viewBox={`0 0 ${crest.width} ${crest.height}`}
      aria-hidden="true"
    >
      <path className={styles.field} d={crest.field} />
      <path className={styles.half} d={crest.half} />
      <path className={styles.star} d={crest.star} />
    </svg>
  );
}
