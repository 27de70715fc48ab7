import { PageHeading } from '#ui/PageHeading.tsx';
import { Bone, Bones } from '#ui/Skeleton.tsx';
import { Card } from '../../components/Card.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import styles from './styles.module.css';

/** A skeleton with two cards, shown while the memberships load (specification, section 2). */
export function Placeholder() {
  return (
    <Card wide>
      <ProgressBar current="Membership" />
      <div role="status" aria-busy="true" data-waiting>
        <PageHeading title="Membership" className="sr" />
        <span className="sr">Loading…</span>
        <div className={styles.heading}>
          <Bone style={{ width: '18rem', maxWidth: '80%', height: '2.5rem' }} />
          <Bone style={{ width: '24rem', maxWidth: '95%', height: '1.5rem', marginTop: '0.625rem' }} />
        </div>
        <div className={styles.cards} data-count="2">
          {['first', 'second'].map((key) => (
            <div className={styles.card} key={key}>
              <Bone style={{ width: '60%', height: '1.65rem', marginBottom: '0.5rem' }} />
              <Bone style={{ width: '80%' }} />
              <Bone style={{ width: '45%', height: '2.75rem', margin: '1rem 0 2.25rem' }} />
              <Bones count={4} className={styles.features} />
              <Bone style={{ height: '3.25rem' }} />
            </div>
          ))}
        </div>
      </div>
    </Card>
  );
}
