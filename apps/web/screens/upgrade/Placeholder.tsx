import { PageHeading } from '#ui/PageHeading.tsx';
import { Bone, Bones } from '#ui/Skeleton.tsx';
import { Card } from '../../components/Card.tsx';
import { Hero } from '../../components/Hero.tsx';
import styles from './styles.module.css';

/** A skeleton of the offer, in the offer's size. */
export function Placeholder() {
  return (
    <Card>
      <div role="status" aria-busy="true" data-waiting>
        <PageHeading title="Upgrade Membership" className="sr" />
        <span className="sr">Loading…</span>
        <Hero>
          <Bone style={{ width: 'min(20rem, 80%)', height: '2.5rem' }} />
          <Bone style={{ width: 'min(26rem, 95%)', height: '1.5rem', marginTop: '0.75rem' }} />
        </Hero>
        <div className={styles.offer}>
          <Bone style={{ width: 'min(20rem, 80%)', height: '2.5rem' }} />
          <Bones count={4} className={styles.features} />
          <Bone style={{ height: '6rem', marginBottom: '1.25rem' }} />
          <Bone style={{ height: '3.25rem' }} />
        </div>
      </div>
    </Card>
  );
}
