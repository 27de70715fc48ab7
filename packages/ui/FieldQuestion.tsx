import { type ReactNode, useEffect, useState } from 'react';
import styles from './FieldQuestion.module.css';

/**
 * Questions below a field about the typed text. They are not errors. Screen readers announce them when they appear. Each must be
 * an element, since React could not remove a text node that the browser has translated.
 */
export function FieldQuestion({ children }: { children: ReactNode }) {
  return (
    <p className={styles.question} role="status">
      {children}
    </p>
  );
}

/**
 * Returns a typed text once it has not changed for a moment; until then ''. The delay is needed because "gmail.co" may be an
 * unfinished "gmail.com". The text must already be cleaned. Otherwise, when the field loses the focus and its text is cleaned,
 * the question would disappear for a moment, the page would move, and a press on a button that moves would be lost.
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
