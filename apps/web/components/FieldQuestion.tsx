import { type ReactNode, useEffect, useState } from 'react';
import styles from './ui.module.css';

/** A question under a field about what was typed. It is no error. Screen readers announce it when it appears. */
export function FieldQuestion({ children }: { children: ReactNode }) {
  return (
    <p className={styles.suggestion} role="status">
      <span>{children}</span>
    </p>
  );
}

/** Returns a typed text once it has not changed for a moment, because "gmail.co" may be an unfinished "gmail.com"; before, ''. */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    setSettled('');
    const pause = setTimeout(() => setSettled(typed), 600);
    return () => clearTimeout(pause);
  }, [typed]);
  return settled;
}
