import { Card } from '../../components/Card.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { Bone } from '../../components/Skeleton.tsx';
import ui from '../../components/ui.module.css';
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
          <Bone className={styles.boneHeading} />
          <Bone className={styles.boneLead} />
        </div>
        <div className={styles.cards} data-count="2">
          {['first', 'second'].map((key) => (
            <div className={styles.card} key={key}>
              <Bone className={styles.boneName} />
              <Bone className={styles.boneDescription} />
              <Bone className={styles.bonePrice} />
              <div className={`${ui.ticks} ${styles.features}`}>
                <Bone />
                <Bone />
                <Bone />
                <Bone />
              </div>
              <Bone className={styles.boneButton} />
            </div>
          ))}
        </div>
      </div>
    </Card>
  );
}
