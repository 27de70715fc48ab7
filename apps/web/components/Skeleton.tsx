import styles from './ui.module.css';

/** A grey block of a skeleton screen. `className` sets its size. */
export function Bone({ className }: { className?: string | undefined }) {
  return <span className={className ? `${styles.bone} ${className}` : styles.bone} aria-hidden="true" />;
}
