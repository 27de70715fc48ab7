import { scrollIntoView } from '#ui/Alert.tsx';
import styles from './CentredFault.module.css';

/** An error on Membership, which the specification shows centred and red. `isAnswer`: as for {@link Alert}. */
export function CentredFault({ message, isAnswer = false }: { message: string; isAnswer?: boolean }) {
  return (
    <p ref={isAnswer ? scrollIntoView : null} className={styles.fault} role="alert">
      {message}
    </p>
  );
}
