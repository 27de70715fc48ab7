import { PageHeading } from '#ui/PageHeading.tsx';
import { Bone, Bones } from '#ui/Skeleton.tsx';
import { tabsPlace } from '../../components/Tabs.tsx';
import styles from './Person.module.css';

export function PersonSkeleton() {
  return (
    <>
      <PageHeading title="Person">
        <span className="sr">Person</span>
        <Bone style={{ width: 'min(16rem, 70%)', height: '1.2em' }} />
      </PageHeading>
      <p className={styles.standing}>
        <Bone style={{ width: 'min(24rem, 90%)', height: '1.55em' }} />
      </p>
      <div className={tabsPlace}>
        <Bone style={{ width: '18rem', height: '1em', margin: '0.875rem 0' }} />
      </div>
      <div className={styles.tab}>
        <Bones count={10} />
      </div>
    </>
  );
}
