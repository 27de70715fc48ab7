import { Link } from 'react-router';
import { progressSteps } from '#core/navigation.ts';
import { Icon } from '#ui/icons.tsx';
import styles from './ProgressBar.module.css';

/** The three steps of a join. Finished steps have a tick and are links, except Checkout (specification, section 2). */
export function ProgressBar({ current }: { current: (typeof progressSteps)[number]['name'] }) {
  const at = progressSteps.findIndex(({ name }) => name === current);
  return (
    <nav aria-label="Progress">
      <ol className={styles.steps}>
        {progressSteps.map(({ name, path, isLink }, index) => {
          const done = index < at;
          const content = (
            <>
              <span className={styles.mark}>
                {done ? <Icon name="tick" size={14} /> : <span>{index + 1}</span>}
              </span>
              <span className={styles.stepName}>
                {name}
                {done && <span className="sr"> (done)</span>}
              </span>
            </>
          );
          return (
            <li key={name} className={styles.stepItem}>
              {done && isLink ? (
                <Link className={`${styles.step} ${styles.done}`} to={path}>
                  {content}
                </Link>
              ) : (
                <span
                  className={index === at ? `${styles.step} ${styles.current}` : styles.step}
                  aria-current={index === at ? 'step' : undefined}
                >
                  {content}
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
