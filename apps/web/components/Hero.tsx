import type { ReactNode } from 'react';
import { Crest } from './Crest.tsx';
import styles from './Hero.module.css';

/** A screen's centred heading, below the crest. `isLarge` makes the heading larger. */
export function Hero({
  isLarge = false,
  hasCrest = true,
  className = '',
  children,
}: {
  isLarge?: boolean;
  hasCrest?: boolean;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <header className={`${styles.hero} ${isLarge ? styles.large : ''} ${className}`}>
      {hasCrest && <Crest large />}
      {children}
    </header>
  );
}
