import { PageHeading } from '#ui/PageHeading.tsx';
import { Spinner } from '#ui/Spinner.tsx';
import { Card } from './Card.tsx';
import styles from './PageLoader.module.css';

/** A loading indicator as a whole screen. Its title is visible with `isTitleShown`; otherwise only screen readers read it. */
export function PageLoader({
  title,
  text = 'Loading…',
  isTitleShown = false,
}: {
  title: string;
  text?: string;
  isTitleShown?: boolean;
}) {
  return (
    <Card>
      <PageHeading title={title} className={isTitleShown ? undefined : 'sr'} />
      <div className={styles.loader} role="status" data-waiting>
        <Spinner size="large" />
        <p>{text}</p>
      </div>
    </Card>
  );
}
