import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { buttonClass } from '#ui/Button.tsx';
import { Icon } from '#ui/icons.tsx';
import styles from './Foot.module.css';

/** The last line of a screen: the link back, and Start Over. */
export function Foot({ children }: { children: ReactNode }) {
  return <div className={styles.foot}>{children}</div>;
}

export function BackLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link className={buttonClass({ variant: 'plain' })} to={to}>
      <Icon name="arrowLeft" size={18} />
      {children}
    </Link>
  );
}
