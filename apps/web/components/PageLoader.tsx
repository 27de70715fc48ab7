import styles from './Card.module.css';
import { Card } from './Card.tsx';
import { PageHeading } from './PageHeading.tsx';

/** A loading indicator as a whole screen. */
export function PageLoader({ text = 'Loading…', title }: { text?: string; title: string }) {
  return (
    <Card>
      <PageHeading title={title} className="sr" />
      <div className={styles.loader} role="status" data-waiting>
        <span className={styles.spinner} />
        <p>{text}</p>
      </div>
    </Card>
  );
}
