import type { ReactNode } from 'react';
import { Crest } from './Crest.tsx';
import styles from './Hero.module.css';

/** The crest above a screen's heading. `isLarge` makes the heading larger. */
export function Hero({
  isLarge = false,
  className = '',
  children,
}: {
  isLarge?: boolean;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <header className={`${styles.hero} ${isLarge ? styles.large : ''} ${className}`}>
      <Crest large />
      {children}
    </header>
  );
}
