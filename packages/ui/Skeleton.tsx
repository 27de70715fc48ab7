import type { CSSProperties } from 'react';
import styles from './Skeleton.module.css';

/**
 * A grey block of a skeleton screen. `style` sets its size through the DOM, since the page's Content Security Policy forbids
 * style attributes in HTML.
 */
export function Bone({ style }: { style?: CSSProperties }) {
  return <span className={styles.bone} style={style} aria-hidden="true" />;
}

/** Several grey lines below each other. */
export function Bones({ count, className }: { count: number; className?: string | undefined }) {
  return (
    <div className={`${styles.bones} ${className ?? ''}`}>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: nothing here moves
        <Bone key={index} />
      ))}
    </div>
  );
}
