import { Icon } from '#ui/icons.tsx';
import styles from './RefundNote.module.css';

/** The note about refunds next to a price. Shows nothing if there is no text. */
export function RefundNote({ text }: { text: string | undefined }) {
  return (
    text && (
      <p className={styles.refund}>
        <Icon name="shield" size={18} />
        {text}
      </p>
    )
  );
}
