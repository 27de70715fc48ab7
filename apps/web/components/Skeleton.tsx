import styles from './ui.module.css';

/** A grey block of a skeleton; `className` gives its size. */
export function Bone({ className }: { className?: string | undefined }) {
  return <span className={className ? `${styles.bone} ${className}` : styles.bone} aria-hidden="true" />;
}
