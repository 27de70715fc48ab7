import { scrollIntoView } from '#ui/Alert.tsx';
import styles from './CentredFault.module.css';

/** An error of Membership, which the specification has centred in red. `isAnswer` is that of {@link Alert}. */
export function CentredFault({ message, isAnswer = false }: { message: string; isAnswer?: boolean }) {
  return (
    <p ref={isAnswer ? scrollIntoView : null} className={styles.fault} role="alert">
      {message}
    </p>
  );
}
