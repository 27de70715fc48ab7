import styles from './Spinner.module.css';

/** A turning ring, shown while something takes a moment. The small one is for a button. */
export function Spinner({ size }: { size: 'small' | 'large' }) {
  return <span className={styles[size]} />;
}
