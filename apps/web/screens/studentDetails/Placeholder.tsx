import { PageHeading } from '#ui/PageHeading.tsx';
import { Bone } from '#ui/Skeleton.tsx';
import { Card } from '../../components/Card.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import styles from './styles.module.css';

/** A skeleton of the form, in the form's size. */
export function Placeholder() {
  return (
    <Card>
      <ProgressBar current="Student Details" />
      <PageHeading title="Student Details" />
      <div className={styles.form} role="status" aria-busy="true" data-waiting>
        <span className="sr">Loading…</span>
        {[2, 4, 2].map((rows, group) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: nothing here moves
          <div className={styles.group} key={group}>
            <Bone style={{ width: '10rem', height: '1.65rem', marginBottom: '0.5rem' }} />
            {Array.from({ length: rows }, (_, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: nothing here moves
              <div key={row}>
                <Bone style={{ width: '7rem', height: '1rem', marginBottom: '0.625rem' }} />
                <Bone style={{ height: '3rem', borderRadius: 'var(--radius-m)' }} />
              </div>
            ))}
          </div>
        ))}
        <Bone style={{ height: '3rem', borderRadius: 'var(--radius-m)' }} />
      </div>
    </Card>
  );
}
