import { Card } from '../../components/Card.tsx';
import { PageHeading } from '../../components/PageHeading.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { Bone } from '../../components/Skeleton.tsx';
import styles from './styles.module.css';

/** A skeleton of the form, with the form's size. */
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
            <Bone className={styles.boneTitle} />
            {Array.from({ length: rows }, (_, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: nothing here moves
              <div key={row}>
                <Bone className={styles.boneLabel} />
                <Bone className={styles.boneInput} />
              </div>
            ))}
          </div>
        ))}
        <Bone className={styles.boneInput} />
      </div>
    </Card>
  );
}
