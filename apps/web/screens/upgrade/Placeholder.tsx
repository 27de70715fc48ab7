import { Card } from '../../components/Card.tsx';
import { Crest } from '../../components/Crest.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { Bone } from '../../components/Skeleton.tsx';
import ui from '../../components/ui.module.css';
import styles from './styles.module.css';

/** A skeleton of the offer, with the offer's size. */
export function Placeholder() {
  return (
    <Card>
      <div role="status" aria-busy="true" data-waiting>
        <PageHeading title="Upgrade Membership" className="sr" />
        <span className="sr">Loading…</span>
        <div className={styles.celebration}>
          <Crest large />
          <Bone className={styles.boneHeading} />
          <Bone className={styles.boneLead} />
        </div>
        <div className={styles.offer}>
          <Bone className={styles.boneHeading} />
          <div className={`${ui.ticks} ${styles.features}`}>
            <Bone />
            <Bone />
            <Bone />
            <Bone />
          </div>
          <Bone className={styles.boneTerms} />
          <Bone className={styles.boneButton} />
        </div>
      </div>
    </Card>
  );
}
