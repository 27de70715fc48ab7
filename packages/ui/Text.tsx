import type { ComponentProps, ReactNode } from 'react';
import styles from './Text.module.css';

/** The first words of a screen, below its heading. */
export function Lead({ children }: { children: ReactNode }) {
  return <p className={styles.lead}>{children}</p>;
}

/** A small note below a field or a button. With `isHidden`, only screen readers read it. */
export function Hint({ isHidden = false, ...rest }: ComponentProps<'p'> & { isHidden?: boolean }) {
  return <p {...rest} className={isHidden ? 'sr' : styles.hint} />;
}

/** Stacks its children vertically. */
export function Stack({ isCentred = false, children }: { isCentred?: boolean; children: ReactNode }) {
  return <div className={isCentred ? `${styles.stack} ${styles.centred}` : styles.stack}>{children}</div>;
}

/** A list whose items have ticks, such as features or rules. */
export function Ticks({ className = '', children }: { className?: string | undefined; children: ReactNode }) {
  return <ul className={`${styles.ticks} ${className}`}>{children}</ul>;
}
