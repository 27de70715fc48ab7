import { Alert } from '#ui/Alert.tsx';
import styles from './styles.module.css';

/** The error of a change of the order, below the control that made the change. */
export function ChangeError({ error }: { error: string | null }) {
  return (
    error && (
      <div className={styles.changeError}>
        <Alert isAnswer>{error}</Alert>
      </div>
    )
  );
}
