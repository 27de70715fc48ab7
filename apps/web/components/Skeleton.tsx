import styles from './ui.module.css';

/** A grey stand-in; `className` gives it the size of what comes. */
export function Bone({ className }: { className?: string | undefined }) {
  return <span className={className ? `${styles.bone} ${className}` : styles.bone} aria-hidden="true" />;
}
