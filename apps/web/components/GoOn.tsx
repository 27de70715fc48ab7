import { Navigate } from 'react-router';
import styles from './Card.module.css';

/** Leads to where the session is, and keeps the room of a page meanwhile, so that nothing in view jumps. */
export function GoOn({ to }: { to: string }) {
  return (
    <div className={styles.loader} role="status" data-waiting aria-label="Loading…">
      <span className={styles.spinner} />
      <Navigate to={to} replace />
    </div>
  );
}
