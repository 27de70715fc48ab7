import { type ReactNode, useEffect, useState } from 'react';
import styles from './FieldQuestion.module.css';

/**
 * Questions under a field about what was typed. They are no errors. Screen readers announce them when they appear. Each is an
 * element: React could not remove a text that the browser has translated.
 */
export function FieldQuestion({ children }: { children: ReactNode }) {
  return (
    <p className={styles.question} role="status">
      {children}
    </p>
  );
}

/**
 * Returns a typed text once it has not changed for a moment, because "gmail.co" may be an unfinished "gmail.com"; before, ''. The
 * text must be cleaned already. Otherwise cleaning it when the field loses the focus would remove the question for a moment, and a
 * press on what then moves would be lost.
 */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    setSettled('');
    const pause = setTimeout(() => setSettled(typed), 600);
    return () => clearTimeout(pause);
  }, [typed]);
  return settled;
}
