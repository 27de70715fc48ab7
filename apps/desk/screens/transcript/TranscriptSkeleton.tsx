import { PageHeading } from '#ui/PageHeading.tsx';
import { Bone, Bones } from '#ui/Skeleton.tsx';
import styles from './Transcript.module.css';

export function TranscriptSkeleton() {
  return (
    <>
      <PageHeading title="Transcript">
        <span className="sr">Transcript</span>
        <Bone style={{ width: 'min(16rem, 70%)', height: '1.2em' }} />
      </PageHeading>
      <div className={styles.columns}>
        <Bones count={12} />
        <Bones count={8} />
      </div>
    </>
  );
}
