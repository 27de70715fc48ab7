import styles from './Card.module.css';
import { Card } from './Card.tsx';

/** A calm wait, where the specification asks for a loader. */
export function PageLoader({ text = 'Loading…', title }: { text?: string; title?: string }) {
  return (
    <Card>
      {title && <h1 className="sr">{title}</h1>}
      <div className={styles.loader} role="status">
        <span className={styles.spinner} />
        <p>{text}</p>
      </div>
    </Card>
  );
}
