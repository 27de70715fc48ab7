import { Icon } from '#ui/icons.tsx';
import styles from './RefundNote.module.css';

/** The note about refunds beside a price. Nothing is shown without its text. */
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
